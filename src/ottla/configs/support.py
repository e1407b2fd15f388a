"""Decides by name and value whether Ottla honors, ignores or refuses a node's setting.

A setting of an unsupported feature, above all security, is refused: otherwise the operator would
rely on a feature that is missing. Kafka's default value and an empty value are always accepted. If
ignoring a setting is harmless, it is accepted, and `settings_without_effect` returns its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs.definition import ConfigDefinition
from ottla.configs.definitions import LISTENER_CONFIGS, NODE_SECURITY_NAMES
from ottla.configs.errors import InvalidConfigError
from ottla.configs.security_names import is_undeclared_security_setting
from ottla.configs.status import (
    LISTENER_NOT_IN_LOWER_CASE,
    NOT_OF_ONE_LISTENER,
    UNKNOWN_SECURITY_SETTING,
    SettingRefusal,
    Status,
)
from ottla.configs.synonyms import broker_definition, listener_base_name, listener_of

# Server-side, Kafka reads this one only under a listener's and a mechanism's name.
_JAAS: Final = "sasl.jaas.config"


def refusal_of(name: str, text: str) -> SettingRefusal | None:
    """The reason to refuse this setting, or None."""
    definition = broker_definition(name)
    if definition is None:
        is_meant = text.strip() and is_undeclared_security_setting(name)
        return UNKNOWN_SECURITY_SETTING if is_meant else None
    if is_default(definition, text):
        return None
    refusal = definition.refusal
    if refusal is not None:
        return None if text.strip() in refusal.accepted else refusal
    listener = listener_of(name)
    if listener is None:
        return None
    if definition.name in NODE_SECURITY_NAMES:
        return NOT_OF_ONE_LISTENER
    if definition.name in LISTENER_CONFIGS and listener != listener.lower():
        return LISTENER_NOT_IN_LOWER_CASE
    return None


def refuse_unsupported_settings(properties: Mapping[str, str]) -> None:
    """Raises InvalidConfigError with the names of the settings that a node cannot honor."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, text in sorted(properties.items()):
        refusal = refusal_of(name, text)
        if refusal is not None:
            names.setdefault((refusal.reason, refusal.instead), []).append(name)
    if names:
        raise InvalidConfigError(
            ". ".join(
                f"{', '.join(same)}: {reason}; {instead}"
                for (reason, instead), same in names.items()
            )
        )


def settings_without_effect(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The settings that Ottla accepts and ignores, if they differ from the default."""
    return tuple(name for name, text in sorted(properties.items()) if _is_ignored(name, text))


def _is_ignored(name: str, text: str) -> bool:
    definition = broker_definition(name)
    if definition is None or definition.status is Status.REFUSED:
        return False
    base = listener_base_name(name)
    if definition.name == _JAAS and base in (None, _JAAS):
        return not is_default(definition, text)
    if definition.status is Status.EFFECTIVE:
        return base is not None and definition.name not in LISTENER_CONFIGS
    return not is_default(definition, text)


def is_default(definition: ConfigDefinition, text: str) -> bool:
    """Whether the text means the default. So does an empty text, where there is no default."""
    if not text.strip() and not definition.default:
        return True
    try:
        return definition.parse(text) == definition.default
    except InvalidConfigError:
        return False
