"""What an administrator types so that a user may do what was refused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final

_REFUSED: Final = re.compile(
    r"(?P<principal>\S.*?) at \S+ may not (?P<operation>[A-Z_]+) (?P<type>[A-Z_]+) (?P<name>.+?):"
)
_OPTIONS: Final[Mapping[str, str]] = {
    "TOPIC": "--topic",
    "GROUP": "--group",
    "TRANSACTIONAL_ID": "--transactional-id",
    "DELEGATION_TOKEN": "--delegation-token",
    "USER": "--user-principal",
}
_ANYTHING: Final = (
    "An administrator can give this user rights with `ottla acls add`; docs/security.md lists the "
    "right that each request needs."
)


def rights_hint(error_name: str, reason: str) -> str | None:
    """None for an error that is not about rights. The reason is what an Ottla node says."""
    if not error_name.endswith("_AUTHORIZATION_FAILED"):
        return None
    refused = _REFUSED.search(reason)
    if refused is None:
        return _ANYTHING
    option = _OPTIONS.get(refused["type"])
    resource = "--cluster" if option is None else f"{option} {shlex.quote(refused['name'])}"
    operation = refused["operation"].lower().replace("_", "-")
    principal = shlex.quote(refused["principal"].rpartition(": ")[2])
    return (
        "An administrator can allow it: ottla acls add --allow-principal "
        f"{principal} --operation {operation} {resource}"
    )
