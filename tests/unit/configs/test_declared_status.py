"""What is declared effective is read by the code of a node, and nothing else is."""

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.configs import BROKER_CONFIGS, DYNAMIC_BROKER_CONFIGS, GROUP_CONFIGS, TOPIC_CONFIGS
from ottla.configs.definition import Definitions
from ottla.configs.group_config import GROUP_SYNONYMS, group_bounds
from ottla.configs.listener_values import ListenerValues
from ottla.configs.node_listeners import NodeListeners, _ListenerSettings
from ottla.configs.node_security import listener_security
from ottla.configs.node_settings import NodeSettings
from ottla.configs.status import Status
from ottla.configs.synonyms import TOPIC_SYNONYMS
from ottla.configs.topic_config import EffectiveTopicConfig
from ottla.coordinator.groups.settings import GroupSettings
from ottla.coordinator.shares.settings import ShareSettings
from ottla.coordinator.transactions.settings import TransactionSettings
from tests.support.config_reads import Reads, read_settings, reads_of, reads_of_nodes, setting_names

BROKERS = {**BROKER_CONFIGS, **DYNAMIC_BROKER_CONFIGS}
READS = reads_of_nodes()
SECURITY_MODULES = ("sasl_settings", "oauth_settings", "tls_settings", "tls_stores")


def module_of(owner: type) -> Path:
    return Path(inspect.getfile(owner))


def named(declared: Definitions, status: Status) -> set[str]:
    return {name for name, definition in declared.items() if definition.status is status}


def keys_read(declared: Definitions, reads: Reads) -> set[str]:
    return {name for name in declared if reads.has_key(name)}


def read_topic_configs() -> set[str]:
    attributes = read_settings(EffectiveTopicConfig, module_of(EffectiveTopicConfig), READS)
    return attributes | keys_read(TOPIC_CONFIGS, READS)


def read_group_configs() -> set[str]:
    return keys_read(GROUP_CONFIGS, READS)


def read_broker_configs() -> set[str]:
    """By their own names."""
    owners = (NodeSettings, GroupSettings, TransactionSettings, ShareSettings)
    attributes = {
        name for owner in owners for name in read_settings(owner, module_of(owner), READS)
    }
    return attributes | keys_read(BROKERS, READS)


def counting_broker_configs() -> set[str]:
    """Also those that count because of others: the defaults of topics and groups, the bounds of
    groups, what listeners are made of, and the older name of `node.id`."""
    counting = read_broker_configs()
    for topic in read_topic_configs():
        counting |= {synonym.name for synonym in TOPIC_SYNONYMS.get(topic, ())}
    for group in read_group_configs():
        counting |= {name for name in (GROUP_SYNONYMS[group], *group_bounds(group)) if name}
    assert "listeners" in READS.attributes
    listeners = reads_of([module_of(NodeListeners)]).attributes
    settings = setting_names(_ListenerSettings)
    counting |= {config for attribute, config in settings.items() if attribute in listeners}
    counting |= read_listener_security()
    if "node.id" in counting:
        counting.add("broker.id")
    return counting


def read_listener_security() -> set[str]:
    """What the security of listeners is made of."""
    directory = Path(inspect.getfile(listener_security)).parent
    modules = [directory / f"{name}.py" for name in (*SECURITY_MODULES, "node_security")]
    reads = reads_of(modules)
    settings = setting_names(ListenerValues)
    named = {config for attribute, config in settings.items() if attribute in reads.attributes}
    return named | keys_read(BROKERS, reads)


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        (TOPIC_CONFIGS, read_topic_configs),
        (GROUP_CONFIGS, read_group_configs),
        (BROKERS, counting_broker_configs),
    ],
)
def test_what_is_effective_is_read(declared: Definitions, read: Callable[[], set[str]]) -> None:
    assert sorted(named(declared, Status.EFFECTIVE) - read()) == []


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        (TOPIC_CONFIGS, read_topic_configs),
        (GROUP_CONFIGS, read_group_configs),
        (BROKERS, read_broker_configs),
    ],
)
@pytest.mark.parametrize("status", [Status.WITHOUT_EFFECT, Status.REFUSED])
def test_what_is_not_effective_is_not_read(
    declared: Definitions, read: Callable[[], set[str]], status: Status
) -> None:
    assert sorted(named(declared, status) & read()) == []


def test_what_topics_and_groups_ignore_is_ignored_on_brokers() -> None:
    for topic, synonyms in TOPIC_SYNONYMS.items():
        for synonym in synonyms:
            assert TOPIC_CONFIGS[topic].status is BROKERS[synonym.name].status, synonym.name
    for group, broker in GROUP_SYNONYMS.items():
        for name in (broker, *group_bounds(group)):
            if name is not None:
                assert GROUP_CONFIGS[group].status is BROKERS[name].status, name


def test_every_refused_config_says_why() -> None:
    for declared in (TOPIC_CONFIGS, GROUP_CONFIGS, BROKERS):
        for name, definition in declared.items():
            is_refused = definition.status is Status.REFUSED
            assert (definition.refusal is not None) == is_refused, name


def test_reads_are_found_in_code(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        'a = config.read_by_attribute; b = config["read.by.key"]; c = f"{side}.read.by.pattern"\n'
        'd = {"written.config": 1}; e = other.attribute; f = Setting[int]("declared.config")\n'
    )
    reads = reads_of([module])
    assert reads.attributes == {"read_by_attribute"}
    assert reads.has_key("read.by.key")
    assert reads.has_key("leader.read.by.pattern")
    assert not reads.has_key("written.config")
    assert not reads.has_key("declared.config")
