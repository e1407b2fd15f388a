"""`--add-scram`: SCRAM credentials of a new cluster, in the syntax of Kafka's `kafka-storage`.

    SCRAM-SHA-256=[name=alice,password=alice's password,iterations=8192]
    SCRAM-SHA-512=[name=alice,salt="c2FsdA==",saltedpassword="..."]

Errors never contain any of the text, because it contains passwords.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Sequence
from typing import Final

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs.value import Password
from ottla.runtime.dice import Dice
from ottla.security.sasl.scram_credential import (
    ITERATIONS_MIN,
    SCRAM_BY_NAME,
    ScramCredential,
    ScramMechanism,
    check_iterations,
    credential_of_salted_password,
    make_credential,
    random_text,
)
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

_ARGUMENT: Final = re.compile(r"(?P<mechanism>[^=]*)=\[(?P<items>.*)\]", re.DOTALL)
_ITEM: Final = re.compile(r'\s*(?P<name>[^=\s]+)\s*=\s*(?:"(?P<quoted>.*)"|(?P<plain>.*?))\s*')
_ITEMS: Final = frozenset({"name", "password", "salt", "saltedpassword", "iterations"})
_EXAMPLE: Final = "Write SCRAM-SHA-256=[name=NAME,password=PASSWORD]; iterations=N is optional."
# Larger numbers are refused anyway.
_DIGITS_MAX: Final = 9


def scram_records(texts: Sequence[str], dice: Dice) -> list[UserScramCredentialRecord]:
    """Raises CommandError."""
    records = [_record(text, dice) for text in texts]
    seen: set[tuple[str, int]] = set()
    for record in records:
        if (record.name, record.mechanism) in seen:
            raise _usage(f"the user {record.name} is given twice with the same mechanism")
        seen.add((record.name, record.mechanism))
    return records


def _record(text: str, dice: Dice) -> UserScramCredentialRecord:
    argument = _ARGUMENT.fullmatch(text.strip())
    if argument is None:
        raise _usage("the form is not MECHANISM=[...]")
    name = argument["mechanism"].strip()
    mechanism = next((known for each, known in SCRAM_BY_NAME.items() if each == name), None)
    if mechanism is None:
        raise _usage(f"the mechanism must be {' or '.join(SCRAM_BY_NAME)}")
    items = _items(argument["items"])
    user = items.get("name", "")
    if not user or not user.isascii():
        raise _usage("name=... is missing, or is not ASCII")
    credential = _credential(mechanism, items, dice)
    return UserScramCredentialRecord(
        name=user,
        mechanism=mechanism,
        salt=credential.salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=credential.iterations,
    )


def _items(text: str) -> dict[str, str]:
    items: dict[str, str] = {}
    for part in text.split(","):
        item = _ITEM.fullmatch(part)
        if item is None:
            raise _usage("an item between the brackets is not of the form NAME=VALUE")
        name = item["name"]
        if name not in _ITEMS:
            raise _usage(f"an item has an unknown name; use {', '.join(sorted(_ITEMS))}")
        if name in items:
            raise _usage(f"{name} is given twice")
        quoted = item["quoted"]
        items[name] = item["plain"] if quoted is None else quoted
    return items


def _credential(mechanism: ScramMechanism, items: dict[str, str], dice: Dice) -> ScramCredential:
    iterations = _iterations(items.get("iterations"))
    if ("password" in items) == ("saltedpassword" in items):
        raise _usage("either password=... or saltedpassword=... is needed")
    if not items.get("password", "x"):
        raise _usage("the password is empty")
    salt = _decoded(items, "salt") if "salt" in items else None
    try:
        if "password" in items:
            return make_credential(
                mechanism,
                Password(items["password"]),
                salt=salt or random_text(dice.below).encode(),
                iterations=iterations,
            )
        if salt is None:
            raise _usage("saltedpassword=... needs salt=...")
        salted = _decoded(items, "saltedpassword")
        return credential_of_salted_password(mechanism, salted, salt=salt, iterations=iterations)
    except ValueError as error:
        raise _usage(str(error)) from None


def _iterations(text: str | None) -> int:
    if text is None:
        return ITERATIONS_MIN
    if not text.isdecimal() or len(text) > _DIGITS_MAX:
        raise _usage("iterations must be a number")
    try:
        check_iterations(int(text))
    except ValueError as error:
        raise _usage(str(error)) from None
    return int(text)


def _decoded(items: dict[str, str], name: str) -> bytes:
    try:
        found = b64decode(items[name], validate=True)
    except (binascii.Error, ValueError):
        raise _usage(f"{name} is not Base64") from None
    if not found:
        raise _usage(f"{name} is empty")
    return found


def _usage(reason: str) -> CommandError:
    return CommandError(f"--add-scram: {reason}.", _EXAMPLE, exit_code=ExitCode.USAGE)
