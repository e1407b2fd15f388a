"""`users:`, each with SCRAM mechanisms and where its password is."""

from __future__ import annotations

from typing import Final

from ottla.cli.cluster_file.config_fields import read_secret
from ottla.cli.cluster_file.desired import DesiredCredential, DesiredUser, SecretKind
from ottla.cli.cluster_file.fields import FieldReader
from ottla.cli.cluster_file.mistakes import unknown_name_text
from ottla.cli.cluster_file.yaml_tree import YamlField
from ottla.security.sasl.scram_credential import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    SCRAM_BY_NAME,
    ScramMechanism,
)

MECHANISMS: Final = "mechanisms"
ITERATIONS: Final = "iterations"


def read_user(reader: FieldReader, field: YamlField, name: str) -> DesiredUser:
    what = f"user {name}"
    if not name or not name.isascii():
        reader.add(field.place, f"{what}: the name of a SCRAM user has ASCII characters only")
    if "password" in getattr(field.value, "fields", ()):
        reader.add(
            field.place,
            f"{what} has a password in this file; write it into another file and name that with "
            "password_file, or name a variable of the environment with password_env",
        )
    fields = reader.fields(field.value, what, (MECHANISMS, *SecretKind, "password"))
    mechanisms: dict[ScramMechanism, DesiredCredential] = {}
    if MECHANISMS in fields:
        mechanisms = _mechanisms(reader, fields[MECHANISMS], what)
    else:
        reader.add(field.place, f"{what} has no mechanisms; write mechanisms: SCRAM-SHA-512: below")
    return DesiredUser(field.place, mechanisms, read_secret(reader, fields, what))


def _mechanisms(
    reader: FieldReader, field: YamlField, what: str
) -> dict[ScramMechanism, DesiredCredential]:
    found = {}
    entries = reader.entries(field.value, f"mechanisms of {what}")
    for name, entry in entries.items():
        if name not in SCRAM_BY_NAME:
            hint = unknown_name_text(name, SCRAM_BY_NAME)
            reader.add(entry.place, f"{what} has no mechanism {name}{hint}")
            continue
        fields = reader.fields(entry.value, f"{name} of {what}", (ITERATIONS,))
        iterations = None
        if ITERATIONS in fields:
            iterations = reader.number(
                fields[ITERATIONS].value,
                f"iterations of {what}",
                minimum=ITERATIONS_MIN,
                maximum=ITERATIONS_MAX,
            )
        found[SCRAM_BY_NAME[name]] = DesiredCredential(entry.place, iterations)
    return found
