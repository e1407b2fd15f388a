"""Computes the changes when a client alters a resource's configs.

IncrementalAlterConfigs (KIP-339) changes only the given configs; the older AlterConfigs replaces
all. Both return the changes to store, with None for a removed config. `validate_topic_configs` and
`validate_broker_configs` check the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.configs.definition import ConfigDefinition
from ottla.configs.errors import InvalidConfigError
from ottla.configs.resource import RESOURCE_DEFINITIONS, ConfigResource, ConfigResourceType
from ottla.configs.value import ConfigType
from ottla.model import ErrorCode, KafkaError

# The maximum length of a string in Kafka's older formats.
_VALUE_LENGTH_MAX: Final = 2**15 - 1


class ConfigOperation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigAlteration(NamedTuple):
    name: str
    operation: ConfigOperation
    value: str | None

    @classmethod
    def of(cls, name: str, operation: int, value: str | None) -> ConfigAlteration:
        """From the fields of a request; raises KafkaError for an unknown operation."""
        if operation not in ConfigOperation.__members__.values():
            raise _invalid_request(f"Unknown operation {operation} for config {name}")
        return cls(name, ConfigOperation(operation), value)


def alter_configs(
    resource: ConfigResource, current: Mapping[str, str], alterations: Sequence[ConfigAlteration]
) -> dict[str, str | None]:
    """The changes to `current`. Raises KafkaError if one of the alterations is invalid."""
    _refuse_duplicates(alteration.name for alteration in alterations)
    _refuse_nulls(
        alteration.name
        for alteration in alterations
        if alteration.value is None and alteration.operation is not ConfigOperation.DELETE
    )
    definitions = RESOURCE_DEFINITIONS.get(resource.type, {})
    altered = {
        alteration.name: altered_value(
            alteration, current.get(alteration.name), definition=definitions.get(alteration.name)
        )
        for alteration in alterations
    }
    return _changes(resource, current, altered)


def replace_configs(
    resource: ConfigResource,
    current: Mapping[str, str],
    replacement: Sequence[tuple[str, str | None]],
) -> dict[str, str | None]:
    """The changes after which the resource has exactly the configs of `replacement`."""
    _refuse_duplicates(name for name, _ in replacement)
    _refuse_nulls(name for name, value in replacement if value is None)
    kept = dict(replacement)
    removed: dict[str, str | None] = {name: None for name in current if name not in kept}
    return _changes(resource, current, kept) | removed


def apply_changes(current: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    applied = {**current, **changes}
    return {name: value for name, value in applied.items() if value is not None}


def altered_value(
    alteration: ConfigAlteration, current: str | None, *, definition: ConfigDefinition | None
) -> str | None:
    """The config's new text, or None if it is removed."""
    name, operation, value = alteration
    if operation is ConfigOperation.DELETE:
        return None
    assert value is not None, "only a deletion has no value"
    if operation is ConfigOperation.SET:
        return value
    if definition is None or definition.type is not ConfigType.LIST:
        raise InvalidConfigError(
            f"Can't {operation.name} to key {name} because its type is not LIST."
        )
    before = definition.default_text if current is None else current
    parts = [part for part in (before or "").split(",") if part]
    for part in _split(value):
        if operation is ConfigOperation.SUBTRACT and part in parts:
            parts.remove(part)
        elif operation is ConfigOperation.APPEND and part not in parts:
            parts.append(part)
    return ",".join(parts)


def _split(value: str) -> list[str]:
    """Like Java's `split`: trailing empty parts are dropped; an empty text is one empty part."""
    if not value:
        return [""]
    parts = value.rstrip(",")
    return parts.split(",") if parts else []


def _changes(
    resource: ConfigResource, current: Mapping[str, str], altered: Mapping[str, str | None]
) -> dict[str, str | None]:
    for name, value in altered.items():
        if value is not None and len(value) > _VALUE_LENGTH_MAX:
            raise InvalidConfigError(
                f"The value of {name} has {len(value)} characters; at most "
                f"{_VALUE_LENGTH_MAX} are allowed"
            )
    # A broker's config is stored even if it is unchanged: setting the path of a key store again
    # makes the broker reload the file (KAFKA-14136).
    stores_unchanged = resource.type is ConfigResourceType.BROKER
    return {
        name: value
        for name, value in altered.items()
        if stores_unchanged or current.get(name) != value
    }


def _refuse_duplicates(names: Iterable[str]) -> None:
    seen = list(names)
    if len(set(seen)) < len(seen):
        raise _invalid_request("Error due to duplicate config keys")


def _refuse_nulls(names: Iterable[str]) -> None:
    nulls = list(names)
    if nulls:
        raise _invalid_request(f"Null value not supported for: {', '.join(nulls)}")


def _invalid_request(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
