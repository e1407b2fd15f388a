"""Which of a node's settings Ottla honors, ignores or refuses, by their names and values.

A setting that promises something Ottla does not have, above all security, is refused: the operator
would believe in a promise that nothing keeps. A value that is Kafka's default promises nothing, and
so does an empty value. Where ignoring a setting is harmless, it is accepted, and
`settings_without_effect` names it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.configs.definition import ConfigDefinition
from ottla.configs.errors import InvalidConfigError
from ottla.configs.status import NO_SECURITY, SettingRefusal, Status
from ottla.configs.synonyms import broker_definition
from ottla.configs.unsupported_security import is_undeclared_security_setting


def refusal_of(name: str, text: str) -> SettingRefusal | None:
    """Why a node cannot have this setting, or None if it can."""
    definition = broker_definition(name)
    if definition is None:
        return NO_SECURITY if text.strip() and is_undeclared_security_setting(name) else None
    return None if _is_default(definition, text) else definition.refusal


def refuse_unsupported_settings(properties: Mapping[str, str]) -> None:
    """Raises InvalidConfigError, which names the settings that a node cannot honor."""
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
    """The settings that Ottla accepts and ignores, and whose values are not the defaults."""
    return tuple(name for name, text in sorted(properties.items()) if _is_ignored(name, text))


def _is_ignored(name: str, text: str) -> bool:
    definition = broker_definition(name)
    if definition is None or definition.status is Status.REFUSED:
        return False
    # A node reads the setting of all listeners, never that of one (listener.name.<listener>.…).
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
