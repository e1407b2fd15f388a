"""Profiles: named clusters with client properties, in a file of the user.

    current = "prod"

    [profiles."prod"]
    bootstrap = "kafka-1:9092,kafka-2:9092"

    [profiles."prod".properties]
    "client.id" = "billing"

The file may contain passwords, so only its owner may read it. It is replaced atomically.
"""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.exit_codes import CommandError, ExitCode

FILE_NAME: Final = "config.toml"
_SECRET_PARTS: Final = (
    "jaas",
    "key.pem",
    "keystore.key",
    "oauthbearer.config",
    "passphrase",
    "password",
    "secret",
    "token",
)
HIDDEN: Final = "hidden"


def is_secret(name: str) -> bool:
    """Whether the values of this client property are hidden."""
    lowered = name.lower()
    # An address is no secret; the endpoint of tokens is one.
    return not lowered.endswith(".url") and any(part in lowered for part in _SECRET_PARTS)


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    # If None, the addresses come from the options or the default.
    bootstrap: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown_properties(self) -> dict[str, str]:
        """The properties, with secrets hidden."""
        return {
            name: HIDDEN if is_secret(name) else value for name, value in self.properties.items()
        }


@dataclass(slots=True)
class Profiles:
    """The content of the file. `current` is used if nothing else names a cluster."""

    current: str | None = None
    by_name: dict[str, Profile] = field(default_factory=dict)

    def profile(self, name: str) -> Profile:
        found = self.by_name.get(name)
        if found is None:
            known = ", ".join(sorted(self.by_name))
            raise CommandError(
                f"There is no profile {name}.",
                f"Existing profiles: {known}."
                if known
                else "Create one with: ottla profile create NAME",
                exit_code=ExitCode.USAGE,
            )
        return found


def profiles_file() -> Path:
    """The path of the file, by the XDG Base Directory Specification."""
    directory = os.environ.get("XDG_CONFIG_HOME", "")
    # The specification requires that relative paths are ignored.
    home = Path(directory) if directory.startswith("/") else Path.home() / ".config"
    return home / "ottla" / FILE_NAME


def read_profiles() -> Profiles:
    """Reads the file; if there is none, there are no profiles. Raises CommandError."""
    file = profiles_file()
    try:
        return _parse(tomllib.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        remedy = "make it a file that you can read, or remove it"
        raise unreadable(file, error, remedy=remedy) from None
    except (ValueError, TypeError) as error:
        raise _unusable(file, str(error)) from None


def write_profiles(profiles: Profiles) -> None:
    """Raises CommandError."""
    file = profiles_file()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only the owner can read a temporary file from its creation on.
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=file.parent, prefix=f".{FILE_NAME}.", delete=False
        ) as partial:
            partial.write(_format(profiles))
        Path(partial.name).replace(file)
    except OSError as error:
        raise CommandError(
            f"Cannot write {file}: {error.strerror}.", exit_code=ExitCode.USAGE
        ) from None


def _parse(content: Mapping[str, Any]) -> Profiles:
    _require_known(content, {"current", "profiles"}, "the file")
    by_name = {}
    for name, table in _table(content.get("profiles", {}), "profiles").items():
        what = f"profile {name}"
        fields = _table(table, what)
        _require_known(fields, {"bootstrap", "properties"}, what)
        properties = _table(fields.get("properties", {}), f"properties of {what}")
        by_name[name] = Profile(
            name,
            _text(fields.get("bootstrap"), f"bootstrap of {what}"),
            {key: _text(value, f"{key} of {what}") or "" for key, value in properties.items()},
        )
    return Profiles(_text(content.get("current"), "current"), by_name)


def _require_known(fields: Mapping[str, Any], known: set[str], what: str) -> None:
    if unknown := set(fields) - known:
        raise ValueError(f"{what} has the unknown field {min(unknown)}")


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{what} has to be a table")
    return value


def _text(value: Any, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{what} has to be a string in quotes")
    return value


def _format(profiles: Profiles) -> str:
    lines = [] if profiles.current is None else [f"current = {_quoted(profiles.current)}"]
    for profile in profiles.by_name.values():
        lines += ["", f"[profiles.{_quoted(profile.name)}]"]
        if profile.bootstrap is not None:
            lines.append(f"bootstrap = {_quoted(profile.bootstrap)}")
        if profile.properties:
            lines += ["", f"[profiles.{_quoted(profile.name)}.properties]"]
            lines += [
                f"{_quoted(name)} = {_quoted(value)}" for name, value in profile.properties.items()
            ]
    return "\n".join(lines).lstrip("\n") + "\n"


def _quoted(text: str) -> str:
    """A basic string of TOML: JSON's, in which DEL has to be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unusable(file: Path, reason: str) -> CommandError:
    return CommandError(f"Cannot use {file}: {reason}.", exit_code=ExitCode.USAGE)
