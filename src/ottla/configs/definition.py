"""The definition of a config, and the functions that build the tables of definitions.

A row has a name, a default and then, in any order, optional traits: a validator, the importance,
the update mode, the visibility and the status. The defaults of the traits are medium importance,
read-only while the broker runs, public and effective. The texts that document configs are in
`documentation`, which is imported only where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from ottla.configs.errors import InvalidConfigError
from ottla.configs.status import SettingRefusal, Status
from ottla.configs.validators import Validator
from ottla.configs.value import ConfigType, ConfigValue, format_value, parse_value

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1


class Importance(Enum):
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class UpdateMode(Enum):
    """How a running broker's config can be changed (KIP-226)."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Visibility(Enum):
    PUBLIC = "public"
    # For tests and experiments: it is effective, but shown only if it is set.
    INTERNAL = "internal"


class Required(Enum):
    """Marks a required config, which has no default."""

    REQUIRED = "required"


HIGH: Final = Importance.HIGH
LOW: Final = Importance.LOW
PER_BROKER: Final = UpdateMode.PER_BROKER
CLUSTER_WIDE: Final = UpdateMode.CLUSTER_WIDE
INTERNAL: Final = Visibility.INTERNAL
REQUIRED: Final = Required.REQUIRED

Trait: TypeAlias = Validator | Importance | UpdateMode | Visibility | Status | SettingRefusal


class ConfigDefinition(NamedTuple):
    name: str
    type: ConfigType
    default: ConfigValue
    is_required: bool
    validator: Validator | None
    importance: Importance
    update_mode: UpdateMode
    visibility: Visibility
    status: Status
    refusal: SettingRefusal | None

    @property
    def is_sensitive(self) -> bool:
        return self.type is ConfigType.PASSWORD

    @property
    def is_internal(self) -> bool:
        return self.visibility is Visibility.INTERNAL

    @property
    def is_dynamic(self) -> bool:
        return self.update_mode is not UpdateMode.READ_ONLY

    @property
    def default_text(self) -> str | None:
        return format_value(self.default)

    def parse(self, text: str) -> ConfigValue:
        """Parses a text. Raises an InvalidConfigError that describes the allowed values."""
        try:
            value = parse_value(self.type, text)
        except ValueError as error:
            shown = "[hidden]" if self.is_sensitive else text
            raise InvalidConfigError.of_value(self.name, shown, reason=str(error)) from None
        reason = self.validator.refusal(value) if self.validator else None
        if reason is not None:
            raise InvalidConfigError.of_value(self.name, format_value(value), reason=reason)
        return value


Definitions: TypeAlias = Mapping[str, ConfigDefinition]


def definitions(rows: Iterable[ConfigDefinition]) -> Definitions:
    by_name: dict[str, ConfigDefinition] = {}
    for row in rows:
        assert row.name not in by_name, f"{row.name} is declared twice"
        by_name[row.name] = row
    return by_name


def without_effect(*rows: ConfigDefinition) -> tuple[ConfigDefinition, ...]:
    """Marks rows of an unsupported feature, which are accepted and ignored."""
    return tuple(row._replace(status=Status.WITHOUT_EFFECT) for row in rows)


def refused(refusal: SettingRefusal, *rows: ConfigDefinition) -> tuple[ConfigDefinition, ...]:
    """Marks rows of an unsupported feature that must not be ignored."""
    return tuple(row._replace(status=Status.REFUSED, refusal=refusal) for row in rows)


def boolean(name: str, default: bool, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.BOOLEAN, default, traits)


def string(name: str, default: str | None, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.STRING, default, traits)


def int16(name: str, default: int, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.SHORT, default, traits)


def int32(name: str, default: int | Required | None, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.INT, default, traits)


def int64(name: str, default: int | None, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.LONG, default, traits)


def double(name: str, default: float, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.DOUBLE, default, traits)


def strings(
    name: str, default: tuple[str, ...] | Required | None, *traits: Trait
) -> ConfigDefinition:
    return _define(name, ConfigType.LIST, default, traits)


def java_class(name: str, default: str | None, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.CLASS, default, traits)


def password(name: str, *traits: Trait) -> ConfigDefinition:
    return _define(name, ConfigType.PASSWORD, None, traits)


def _define(
    name: str, config_type: ConfigType, default: ConfigValue | Required, traits: tuple[Trait, ...]
) -> ConfigDefinition:
    validator: Validator | None = None
    importance, update_mode = Importance.MEDIUM, UpdateMode.READ_ONLY
    visibility = Visibility.PUBLIC
    status, refusal = Status.EFFECTIVE, None
    for trait in traits:
        if isinstance(trait, Importance):
            importance = trait
        elif isinstance(trait, UpdateMode):
            update_mode = trait
        elif isinstance(trait, Visibility):
            visibility = trait
        elif isinstance(trait, Status):
            status = trait
        elif isinstance(trait, SettingRefusal):
            status, refusal = Status.REFUSED, trait
        else:
            validator = trait
    is_required = default is REQUIRED
    value = None if isinstance(default, Required) else default
    assert value is None or validator is None or validator.refusal(value) is None, name
    return ConfigDefinition(
        name,
        config_type,
        value,
        is_required,
        validator,
        importance,
        update_mode,
        visibility,
        status,
        refusal,
    )
