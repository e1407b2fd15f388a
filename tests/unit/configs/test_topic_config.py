import dataclasses
import typing
from contextlib import nullcontext

import pytest

from ottla.configs import ConfigLayers, EffectiveTopicConfig, InvalidConfigError, NodeConfig
from ottla.configs.definitions import TOPIC_CONFIGS
from ottla.configs.setting import Setting
from ottla.configs.topic_validation import validate_topic_configs
from tests.support.kafka.config_fixtures import Verdict, verdicts

WEEK_MS = 7 * 24 * 3600 * 1000


def topic(overrides: dict[str, str], **broker: str) -> EffectiveTopicConfig:
    return NodeConfig.of(
        {name.replace("_", "."): text for name, text in broker.items()}
    ).topic_config(overrides)


def test_defaults_are_kafkas() -> None:
    config = topic({})
    assert config.retention_ms == config.segment_ms == WEEK_MS
    assert config.retention_bytes == -1
    assert config.segment_bytes == 1 << 30
    assert config.max_message_bytes == 1_048_588
    assert config.flush_ms == config.flush_messages == 2**63 - 1
    assert config.min_cleanable_dirty_ratio == 0.5
    assert config.deletes
    assert not config.compacts
    for name, definition in TOPIC_CONFIGS.items():
        assert config[name] == definition.default


def test_a_topics_own_value_goes_before_its_brokers() -> None:
    assert topic({"max.message.bytes": "5"}, message_max_bytes="7").max_message_bytes == 5
    assert topic({}, message_max_bytes="7").max_message_bytes == 7
    assert topic({"segment.ms": "9"}, log_roll_ms="8").segment_ms == 9


def test_the_smaller_unit_of_a_brokers_time_counts() -> None:
    assert topic({}, log_retention_hours="2").retention_ms == 2 * 3_600_000
    assert topic({}, log_retention_hours="2", log_retention_minutes="3").retention_ms == 180_000
    assert (
        topic(
            {}, log_retention_hours="2", log_retention_minutes="3", log_retention_ms="4"
        ).retention_ms
        == 4
    )
    assert topic({}, log_roll_hours="2", log_roll_jitter_hours="1").segment_jitter_ms == 3_600_000
    assert topic({}, log_flush_scheduler_interval_ms="6").flush_ms == 6
    assert topic({}, log_flush_scheduler_interval_ms="6", log_flush_interval_ms="5").flush_ms == 5


def test_any_negative_retention_of_a_broker_is_for_ever() -> None:
    assert topic({}, log_retention_hours="-3").retention_ms == -1


def test_a_dynamic_time_replaces_a_static_one_in_another_unit() -> None:
    node = NodeConfig.of({"log.retention.ms": "5", "log.roll.ms": "6"})
    dynamic = node.with_dynamic(cluster={"log.retention.ms": "7"}, broker={"log.roll.ms": "8"})
    assert dynamic.topic_config({}).retention_ms == 7
    assert dynamic.topic_config({}).segment_ms == 8
    assert node.topic_config({}).retention_ms == 5


def test_topics_without_configs_of_their_own_share_one() -> None:
    node = NodeConfig.of({})
    assert node.topic_config({}) is node.topic_config({})
    assert node.topic_config({"retention.ms": "1"}).defaults is node.topic_defaults.defaults


def test_an_internal_segment_size_may_be_less_than_a_segment_should_have() -> None:
    assert topic({"internal.segment.bytes": "2048"}).segment_bytes == 2048


def test_local_retention_defaults_to_the_whole_retention() -> None:
    config = topic({"retention.ms": "50", "local.retention.bytes": "7"})
    assert config.local_retention_ms == 50
    assert config.local_retention_bytes == 7


def test_policies_can_be_both_or_none() -> None:
    both = topic({"cleanup.policy": "compact, delete"})
    assert both.compacts
    assert both.deletes
    neither = topic({"cleanup.policy": ""})
    assert not neither.compacts
    assert not neither.deletes


def test_unknown_names_are_kept_and_wrong_values_refused() -> None:
    assert topic({"message.format.version": "3.0"}).overrides == {"message.format.version": "3.0"}
    with pytest.raises(InvalidConfigError, match=r"retention\.ms"):
        topic({"retention.ms": "soon"})


def test_attributes_have_the_types_of_their_configs() -> None:
    python_types = {"BOOLEAN": bool, "STRING": str, "INT": int, "LONG": int, "DOUBLE": float}
    python_types["LIST"] = tuple[str, ...]
    settings = [
        value for value in vars(EffectiveTopicConfig).values() if isinstance(value, Setting)
    ]
    assert {setting.name for setting in settings} == set(TOPIC_CONFIGS) - {
        "leader.replication.throttled.replicas",
        "follower.replication.throttled.replicas",
    }
    for setting in settings:
        definition = TOPIC_CONFIGS[setting.name]
        [declared] = typing.get_args(setting.__orig_class__)  # type: ignore[attr-defined]
        expected: object = python_types[definition.type.name]
        if definition.default is None:
            expected = expected | None  # type: ignore[operator]
        assert declared == expected, setting.name


@pytest.mark.parametrize("verdict", verdicts("topic"), ids=str)
def test_combinations_are_refused_where_kafka_refuses_them(verdict: Verdict) -> None:
    question = verdict.question
    # A node refuses to start with tiered storage; Kafka shows what topics could have then.
    static = question["static"]
    node = NodeConfig.of({name: static[name] for name in static if not name.startswith("remote.")})
    node = dataclasses.replace(node, layers=ConfigLayers({**node.layers.static, **static}))
    node = node.with_dynamic(cluster={}, broker={})
    with pytest.raises(InvalidConfigError) if verdict.refusal else nullcontext():
        validate_topic_configs(question["configs"], existing=question["existing"], node=node)
