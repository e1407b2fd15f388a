"""The config and the mode that are in force for a subject.

Those of all contexts (`:.__GLOBAL:`), then those of its context or the global ones, then its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ottla.schemas import CompatibilityLevel
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import GLOBAL_CONTEXT, SubjectName, qualified

DEFAULT_LEVEL: Final = CompatibilityLevel.BACKWARD
DEFAULT_MODE: Final = "READWRITE"
MODES: Final = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
GLOBAL_SCOPE: Final = qualified(GLOBAL_CONTEXT, "")
_LEVEL: Final = "compatibilityLevel"


def config_in_scope(state: RegistryState, subject: str | None) -> dict[str, Any]:
    merged: dict[str, Any] = {_LEVEL: DEFAULT_LEVEL.value}
    for scope in _scopes(subject):
        merged |= state.configs.get(scope, {})
    if subject is None or state.configs.get(subject, {}).get("alias") is None:
        merged.pop("alias", None)
    return merged


def own_config(state: RegistryState, subject: str | None) -> Mapping[str, Any] | None:
    """The config of this scope alone; the global one always exists."""
    found = state.configs.get(subject)
    if found is None and subject not in (None, GLOBAL_SCOPE):
        return None
    return {_LEVEL: DEFAULT_LEVEL.value, **(found or {})}


def level_in_scope(state: RegistryState, subject: str) -> CompatibilityLevel:
    return CompatibilityLevel(config_in_scope(state, subject)[_LEVEL])


def mode_in_scope(state: RegistryState, subject: str | None) -> str:
    """A global READONLY_OVERRIDE holds for every subject, whatever its own mode."""
    found = DEFAULT_MODE
    for scope in _scopes(subject):
        mode = state.modes.get(scope)
        if mode == "READONLY_OVERRIDE" and scope != subject:
            return mode
        found = mode or found
    return found


def own_mode(state: RegistryState, subject: str | None) -> str | None:
    found = state.modes.get(subject)
    return DEFAULT_MODE if found is None and subject in (None, GLOBAL_SCOPE) else found


def _scopes(subject: str | None) -> list[str | None]:
    """From the widest to the narrowest."""
    if subject is None:
        return [GLOBAL_SCOPE, None]
    name = SubjectName.parse(subject)
    around = None if name.is_in_default_context else qualified(name.context, "")
    return list(dict.fromkeys((GLOBAL_SCOPE, around, subject)))
