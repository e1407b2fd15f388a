"""What becomes of a resource's configs when a client alters them.

Incremental alteration (KIP-339) touches what it names; the older AlterConfigs replaces everything.
Both give the changes to store, None where a config is to go; whether the result makes sense is for
`validate_topic_configs` and `validate_broker_configs` to say.
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

# What the length of a string in Kafka's older formats has room for.
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
        """From the numbers of a request; raises KafkaError for an operation that there is not."""
        if operation not in ConfigOperation.__members__.values():
            raise _invalid_request(f"Unknown operation {operation} for config {name}")
        return cls(name, ConfigOperation(operation), value)


def alter_configs(
    resource: ConfigResource, current: Mapping[str, str], alterations: Sequence[ConfigAlteration]
) -> dict[str, str | None]:
    """The changes to `current`; a KafkaError refuses all of them if one cannot be."""
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
    """The changes that leave the resource with the replacement and nothing else."""
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
    """The config's new text, or None where it has none any more."""
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
    """As Java splits: empty parts at the end do not count, and no text is one empty part."""
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
                f"The value of {name} has {len(value)} characters; {_VALUE_LENGTH_MAX} is the most"
            )
    # A broker's config is stored even where it stays the same: setting the path of a key store
    # again is how its file is read again (KAFKA-14136).
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
