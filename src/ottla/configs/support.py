"""Decides by name and value whether Ottla honors, ignores or refuses a node's setting.

A setting of an unsupported feature, above all security, is refused: otherwise the operator would
rely on a feature that is missing. Kafka's default value and an empty value are always accepted. If
ignoring a setting is harmless, it is accepted, and `settings_without_effect` returns its name.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.configs.definition import ConfigDefinition
from ottla.configs.errors import InvalidConfigError
from ottla.configs.status import NO_SECURITY, SettingRefusal, Status
from ottla.configs.synonyms import broker_definition
from ottla.configs.unsupported_security import is_undeclared_security_setting


def refusal_of(name: str, text: str) -> SettingRefusal | None:
    """The reason to refuse this setting, or None."""
    definition = broker_definition(name)
    if definition is None:
        return NO_SECURITY if text.strip() and is_undeclared_security_setting(name) else None
    return None if _is_default(definition, text) else definition.refusal


def refuse_unsupported_settings(properties: Mapping[str, str]) -> None:
    """Raises InvalidConfigError with the names of the settings that a node cannot honor."""
    names: dict[SettingRefusal, list[str]] = {}
    for name, text in sorted(properties.items()):
        refusal = refusal_of(name, text)
        if refusal is not None:
            names.setdefault(refusal, []).append(name)
    if names:
        raise InvalidConfigError(
            ". ".join(
                f"{', '.join(same)}: {refusal.reason}; {refusal.instead}"
                for refusal, same in names.items()
            )
        )


def settings_without_effect(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The settings that Ottla accepts and ignores, if they differ from the default."""
    return tuple(name for name, text in sorted(properties.items()) if _is_ignored(name, text))


def _is_ignored(name: str, text: str) -> bool:
    definition = broker_definition(name)
    if definition is None or definition.status is Status.REFUSED:
        return False
    # A node uses only settings of all listeners, never of one (listener.name.<listener>.…).
    is_of_one_listener = name != definition.name
    if definition.status is Status.EFFECTIVE:
        return is_of_one_listener
    return not _is_default(definition, text)


def _is_default(definition: ConfigDefinition, text: str) -> bool:
    if not text.strip() and not definition.default:
        return True
    try:
        return definition.parse(text) == definition.default
    except InvalidConfigError:
        return False
