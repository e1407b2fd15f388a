"""Runs `ottla users`: requests of SCRAM credentials, over the protocol itself.

A password never leaves this process: the cluster receives a salt and the salted password.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.display.passwords import ask_new_password, read_password_file
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs.value import Password
from ottla.model import ErrorCode
from ottla.runtime.dice import Dice, SystemDice
from ottla.security.sasl.mechanism import Mechanism
from ottla.security.sasl.scram_credential import (
    SCRAM_BY_NAME,
    ScramMechanism,
    check_iterations,
    random_text,
    salt_password,
)
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)

DEFAULT_ITERATIONS: Final = 8192
_DEFAULT_MECHANISM: Final = ScramMechanism.SCRAM_SHA_512


@dataclass(frozen=True, slots=True)
class NewPassword:
    user: str
    mechanisms: tuple[ScramMechanism, ...]
    iterations: int
    password: Password

    @classmethod
    def of(
        cls,
        user: str,
        mechanisms: Sequence[str] | None,
        iterations: int | None,
        password_file: Path | None,
    ) -> NewPassword:
        """Asks for the password if there is no file. Raises CommandError."""
        parsed = parse_mechanisms(mechanisms or ()) or (_DEFAULT_MECHANISM,)
        number = DEFAULT_ITERATIONS if iterations is None else iterations
        try:
            check_iterations(number)
        except ValueError as error:
            raise _usage(f"--iterations: {error}.") from None
        if not user or not user.isascii():
            raise _usage("The name of a SCRAM user must be ASCII and not empty.")
        if password_file is not None:
            password = read_password_file(password_file)
        else:
            password = ask_new_password(f"New password of {user}")
        return cls(user, parsed, number, password)


def parse_mechanisms(names: Iterable[str]) -> tuple[ScramMechanism, ...]:
    """Raises CommandError."""
    found = {}
    for name in names:
        if name.upper() not in SCRAM_BY_NAME:
            raise _usage(f"--mechanism {name!r} must be one of {', '.join(SCRAM_BY_NAME)}.")
        found[SCRAM_BY_NAME[Mechanism(name.upper())]] = True
    return tuple(sorted(found))


async def list_users(
    admin: ClusterAdmin, terminal: Terminal, users: Sequence[str], *, as_json: bool
) -> None:
    results = await _describe(admin, users)
    if not as_json:
        table = new_table("user", "mechanism", "iterations", right=("iterations",))
    for result in results:
        if result.error_code:
            raise _unknown(result)
        for credential in result.credential_infos:
            mechanism = ScramMechanism(credential.mechanism).mechanism
            if as_json:
                terminal.print_json(
                    {
                        "user": result.user,
                        "mechanism": mechanism,
                        "iterations": credential.iterations,
                    }
                )
            else:
                table.add_row(result.user, mechanism, str(credential.iterations))
    if as_json:
        return
    if results:
        terminal.stdout.print(table)
    else:
        terminal.notice("No user has SCRAM credentials.")


async def set_password(
    admin: ClusterAdmin,
    terminal: Terminal,
    new: NewPassword,
    *,
    as_json: bool,
    dice: Dice | None = None,
) -> None:
    """One request for each mechanism: a request may name a user once only."""
    dice = dice or SystemDice()
    for mechanism in new.mechanisms:
        upsertion = salted_upsertion(
            new.user, mechanism, new.password, iterations=new.iterations, dice=dice
        )
        await _alter(
            admin,
            AlterUserScramCredentialsRequest(upsertions=[upsertion]),
            f"set the password of {new.user}",
        )
        _report(terminal, new.user, mechanism, "set", as_json=as_json)


def salted_upsertion(
    user: str, mechanism: ScramMechanism, password: Password, *, iterations: int, dice: Dice
) -> ScramCredentialUpsertion:
    """A new credential, with a random salt."""
    salt = random_text(dice.below).encode()
    return ScramCredentialUpsertion(
        name=user,
        mechanism=mechanism,
        iterations=iterations,
        salt=salt,
        salted_password=salt_password(
            mechanism.hash_name, password, salt=salt, iterations=iterations
        ),
    )


async def delete_user(
    admin: ClusterAdmin,
    terminal: Terminal,
    user: str,
    mechanisms: Sequence[ScramMechanism],
    *,
    as_json: bool,
) -> None:
    (result,) = await _describe(admin, [user])
    if result.error_code:
        raise _unknown(result)
    known = [ScramMechanism(each.mechanism) for each in result.credential_infos]
    for mechanism in mechanisms or sorted(known):
        deletion = ScramCredentialDeletion(name=user, mechanism=mechanism)
        await _alter(
            admin,
            AlterUserScramCredentialsRequest(deletions=[deletion]),
            f"delete the credential of {user}",
        )
        _report(terminal, user, mechanism, "deleted", as_json=as_json)


async def _describe(admin: ClusterAdmin, users: Sequence[str]) -> list[Any]:
    request = DescribeUserScramCredentialsRequest(
        users=[UserName(name=user) for user in dict.fromkeys(users)] or None
    )
    response = await admin.send_request(request)
    if response.error_code:
        raise refusal("list the users", response.error_code, response.error_message)
    return sorted(response.results, key=lambda result: str(result.user))


async def _alter(admin: ClusterAdmin, request: AlterUserScramCredentialsRequest, what: str) -> None:
    response = await admin.send_request(request)
    for result in response.results:
        if result.error_code:
            raise refusal(what, result.error_code, result.error_message)


def _unknown(result: Any) -> CommandError:
    if result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
        return CommandError(
            f"The user {result.user} has no SCRAM credentials.",
            "`ottla users list` shows the users that have them.",
        )
    return refusal(f"describe the user {result.user}", result.error_code, result.error_message)


def _report(
    terminal: Terminal, user: str, mechanism: ScramMechanism, outcome: str, *, as_json: bool
) -> None:
    name = mechanism.mechanism
    if as_json:
        terminal.print_json({"user": user, "mechanism": name, "outcome": outcome})
    else:
        text = f"{outcome} the {name} credential of {user}"
        terminal.stdout.print(text, markup=False, soft_wrap=True)


def _usage(message: str) -> CommandError:
    return CommandError(message, exit_code=ExitCode.USAGE)
