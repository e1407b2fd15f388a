"""The secrets that a plan needs: read before anything is changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from ottla.cli.apply.changes import AlterResource, Change, ConfigChange, CreateTopic, SetCredential
from ottla.cli.cluster_file.desired import SecretKind, SecretSource
from ottla.cli.cluster_file.mistakes import Mistake
from ottla.cli.display.passwords import read_password_file
from ottla.cli.exit_codes import CommandError
from ottla.configs.value import Password

Secrets: TypeAlias = Mapping[SecretSource, Password]


def read_secrets(
    changes: Iterable[Change], environment: Mapping[str, str] = os.environ
) -> tuple[dict[SecretSource, Password], list[Mistake]]:
    """Paths are relative to the directory of the file that names them."""
    secrets: dict[SecretSource, Password] = {}
    mistakes = []
    for source in dict.fromkeys(_sources(changes)):
        try:
            secrets[source] = _read(source, environment)
        except CommandError as error:
            mistakes.append(Mistake(source.place, error.message.rstrip(".")))
    return secrets, mistakes


def value_of(change: ConfigChange, secrets: Secrets) -> str | None:
    return change.after if change.secret is None else secrets[change.secret].value


def _sources(changes: Iterable[Change]) -> Iterable[SecretSource]:
    for change in changes:
        if isinstance(change, SetCredential):
            yield change.password
        elif isinstance(change, AlterResource | CreateTopic):
            yield from (each.secret for each in change.configs if each.secret is not None)


def _read(source: SecretSource, environment: Mapping[str, str]) -> Password:
    """Raises CommandError."""
    if source.kind is SecretKind.FILE:
        return read_password_file(Path(source.place.file).parent / source.name)
    value = environment.get(source.name)
    if not value:
        raise CommandError(f"the variable {source.name} is not set; export it with the password")
    return Password(value)
