"""A cluster's state as YAML: sorted, and the same text for the same state."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any, Final

import yaml

from ottla.cli.cluster_file.acl_fields import acl_word
from ottla.cli.cluster_file.config_fields import SENSITIVE
from ottla.cli.cluster_file.desired import ManagedKind
from ottla.cli.cluster_file.quota_fields import DEFAULT, KINDS, LIMITS
from ottla.cli.cluster_file.topic_fields import (
    ASSIGNMENT,
    CONFIGS,
    PARTITIONS,
    REPLICATION_FACTOR,
)
from ottla.cli.cluster_file.user_fields import ITERATIONS, MECHANISMS
from ottla.cli.cluster_state.present import (
    PresentConfigs,
    PresentState,
    PresentTopic,
    is_internal,
    set_configs,
)
from ottla.quotas.entities import QuotaEntity
from ottla.security.acls.acl import (
    ANY_HOST,
    AclBinding,
    PatternType,
    Permission,
    ResourceType,
)
from ottla.security.sasl.scram_credential import ScramMechanism

HEADER: Final = """\
# Written by `ottla export`; for `ottla apply -f FILE`.
# `manages` is what `ottla apply --prune` may delete when it is not in this file.
# Passwords are not in here: a user that is to be created needs password_file or password_env.
"""
# Longer than any line, so that no value is wrapped.
_WIDTH: Final = 2**31 - 1
# The one in C takes a tenth of the time; not every installation of PyYAML has it.
_DUMPER: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def cluster_document(state: PresentState) -> str:
    """Everything that was set on the cluster, except on internal topics."""
    kinds = [kind for kind in ManagedKind if kind is not ManagedKind.ACLS or state.acls is not None]
    content: dict[str, Any] = {"manages": {str(kind): ["*"] for kind in kinds}}
    sections: Mapping[str, Any] = {
        "cluster": _resource(state.cluster),
        "brokers": _resources(state.broker_configs),
        "topics": {
            name: _topic(topic)
            for name, topic in sorted(state.topics.items())
            if not is_internal(name, topic)
        },
        "groups": _resources(state.groups),
        "users": {name: _user(found) for name, found in sorted(state.users.items()) if found},
        "acls": _acls(state.acls or frozenset()),
        "quotas": [
            _quota(entity, limits) for entity, limits in sorted(state.quotas.items(), key=repr)
        ],
        "client_metrics": _resources(state.client_metrics),
    }
    # Even an empty section of the cluster says that there are no other defaults.
    content |= {name: each for name, each in sections.items() if each or name == "cluster"}
    return HEADER + _dumped(content)


def _topic(topic: PresentTopic) -> dict[str, Any]:
    """Kafka does not keep whether an assignment was explicit: it is written only where the
    partitions have different numbers of replicas."""
    factors = {len(partition.replicas) for partition in topic.partitions}
    if len(factors) == 1:
        placement: dict[str, Any] = {
            PARTITIONS: len(topic.partitions),
            REPLICATION_FACTOR: factors.pop(),
        }
    else:
        placement = {ASSIGNMENT: [list(partition.replicas) for partition in topic.partitions]}
    return {**placement, **_resource(topic.configs)}


def _resources(configs: Mapping[Any, PresentConfigs]) -> dict[Any, Any]:
    found = {name: _resource(each) for name, each in sorted(configs.items())}
    return {name: each for name, each in found.items() if each}


def _resource(configs: PresentConfigs) -> dict[str, Any]:
    """Empty if nothing is set."""
    found = {
        name: {SENSITIVE: True} if config.is_sensitive else _plain(config.value or "")
        for name, config in set_configs(configs).items()
    }
    return {CONFIGS: found} if found else {}


def _user(credentials: Mapping[ScramMechanism, int]) -> dict[str, Any]:
    return {
        MECHANISMS: {
            str(mechanism.mechanism): {ITERATIONS: iterations}
            for mechanism, iterations in sorted(credentials.items())
        }
    }


def _acls(bindings: frozenset[AclBinding]) -> list[dict[str, Any]]:
    """One item for all operations that have the rest in common."""

    def rest(binding: AclBinding) -> tuple[object, ...]:
        return (binding.pattern, binding.entry._replace(operation=binding.entry.operation.ALL))

    found = []
    for _, same in groupby(sorted(bindings, key=rest), key=rest):
        some = list(same)
        found.append(_acl(some[0], sorted(acl_word(each.entry.operation) for each in some)))
    return found


def _acl(binding: AclBinding, operations: list[str]) -> dict[str, Any]:
    pattern, entry = binding
    fields: dict[str, Any] = {"resource_type": acl_word(pattern.resource_type)}
    if pattern.resource_type is not ResourceType.CLUSTER:
        fields["name"] = pattern.name
    if pattern.pattern_type is not PatternType.LITERAL:
        fields["pattern_type"] = acl_word(pattern.pattern_type)
    fields["principal"] = entry.principal
    if entry.host != ANY_HOST:
        fields["host"] = entry.host
    fields["operations"] = operations
    if entry.permission is not Permission.ALLOW:
        fields["permission"] = acl_word(entry.permission)
    return fields


def _quota(entity: QuotaEntity, limits: Mapping[str, float]) -> dict[str, Any]:
    parts = dict(entity)
    named = {field: parts[kind] for field, kind in KINDS.items() if parts.get(kind) is not None}
    defaults = [field for field, kind in KINDS.items() if kind in parts and parts[kind] is None]
    values = {
        key: int(value) if value.is_integer() else value for key, value in sorted(limits.items())
    }
    return {**named, **({DEFAULT: defaults} if defaults else {}), LIMITS: values}


def _plain(text: str) -> str | int | bool:
    """A number or a truth value without quotes, if that is the same text again."""
    if text in ("true", "false"):
        return text == "true"
    if text.removeprefix("-").isdecimal() and text.isascii() and str(int(text)) == text:
        return int(text)
    return text


def _dumped(content: Mapping[str, Any]) -> str:
    text: str = yaml.dump(
        dict(content),
        Dumper=_DUMPER,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False,
    )
    return text
