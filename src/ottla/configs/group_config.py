"""A group's effective configs: its own, within the broker's bounds, or else the broker's.

For example, `consumer.session.timeout.ms` defaults to the broker's
`group.consumer.session.timeout.ms`, and is limited by the broker's
`group.consumer.min.session.timeout.ms` and `group.consumer.max.session.timeout.ms`. A few configs
have no broker default or no bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from ottla.configs.definitions import BROKER_CONFIGS, GROUP_CONFIGS
from ottla.configs.errors import InvalidConfigError
from ottla.configs.value import ConfigValue, ConfigValues

_PROTOCOLS: Final = ("consumer", "share", "streams")


class GroupBounds(NamedTuple):
    """The names of the broker configs that limit a group's config; None without a limit."""

    minimum: str | None
    maximum: str | None


def _broker_config(name: str) -> str | None:
    return name if name in BROKER_CONFIGS else None


def group_bounds(name: str) -> GroupBounds:
    protocol, _, rest = name.partition(".")
    # group.streams.max.standby.replicas bounds streams.num.standby.replicas.
    rest = rest.removeprefix("num.")
    return GroupBounds(
        _broker_config(f"group.{protocol}.min.{rest}"),
        _broker_config(f"group.{protocol}.max.{rest}"),
    )


# The broker config that is a group config's default, or None.
GROUP_SYNONYMS: Final = {name: _broker_config(f"group.{name}") for name in GROUP_CONFIGS}
_BOUNDS: Final = {name: group_bounds(name) for name in GROUP_CONFIGS}


def own_group_values(overrides: Mapping[str, str]) -> dict[str, ConfigValue]:
    """The parsed configs of a group, by name. Unknown names and invalid values are skipped: they
    may come from a cluster that allowed them.
    """
    own: dict[str, ConfigValue] = {}
    for name, text in overrides.items():
        definition = GROUP_CONFIGS.get(name)
        if definition is not None:
            with suppress(InvalidConfigError):
                own[name] = definition.parse(text)
    return own


def default_group_value(name: str, broker: ConfigValues) -> ConfigValue:
    synonym = GROUP_SYNONYMS[name]
    return GROUP_CONFIGS[name].default if synonym is None else broker[synonym]


def effective_group_value(
    name: str, overrides: Mapping[str, str], broker: ConfigValues
) -> ConfigValue:
    """The effective value of a config that is not limited by the broker."""
    own = own_group_values(overrides) if overrides else {}
    return own[name] if name in own else default_group_value(name, broker)


def effective_group_number(name: str, overrides: Mapping[str, str], broker: ConfigValues) -> int:
    """The effective value. It is limited to the bounds again, because the broker's bounds may have
    changed since the group's config was set."""
    value = own_group_values(overrides).get(name) if overrides else None
    if value is None:
        value = default_group_value(name, broker)
        assert isinstance(value, int)
        return value
    assert isinstance(value, int)
    minimum, maximum = (_number(bound, broker) for bound in _BOUNDS[name])
    if maximum is not None:
        value = min(value, maximum)
    return value if minimum is None else max(value, minimum)


def validate_group_configs(configs: Mapping[str, str], *, broker: ConfigValues) -> None:
    """Raises InvalidConfigError if these configs of a group are invalid."""
    for name, text in configs.items():
        definition = GROUP_CONFIGS.get(name)
        if definition is None:
            raise InvalidConfigError(f"Unknown group config name: {name}")
        _validate_bounds(name, definition.parse(text), broker)
    for protocol in _PROTOCOLS:
        session, heartbeat = f"{protocol}.session.timeout.ms", f"{protocol}.heartbeat.interval.ms"
        if session not in configs and heartbeat not in configs:
            continue
        session_ms = effective_group_number(session, configs, broker)
        heartbeat_ms = effective_group_number(heartbeat, configs, broker)
        if session_ms <= heartbeat_ms:
            raise InvalidConfigError(
                f"{session} ({session_ms}) must be greater than {heartbeat} ({heartbeat_ms})"
            )


def _validate_bounds(name: str, value: ConfigValue, broker: ConfigValues) -> None:
    bounds = _BOUNDS[name]
    minimum, maximum = (_number(bound, broker) for bound in bounds)
    if minimum is not None and isinstance(value, int) and value < minimum:
        raise InvalidConfigError(
            f"{name} must be greater than or equal to {bounds.minimum} ({minimum})"
        )
    if maximum is not None and isinstance(value, int) and value > maximum:
        raise InvalidConfigError(
            f"{name} must be less than or equal to {bounds.maximum} ({maximum})"
        )


def _number(name: str | None, broker: ConfigValues) -> int | None:
    if name is None:
        return None
    value = broker[name]
    assert isinstance(value, int)
    return value
