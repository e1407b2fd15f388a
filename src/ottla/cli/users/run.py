"""Runs `ottla users`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.display.passwords import ask_new_password, read_password_file
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.results import Results
from ottla.client.administration.users import (
    DEFAULT_ITERATIONS,
    ScramCredentialInfo,
    ScramDeletion,
    ScramPassword,
)
from ottla.client.errors import ApiError, ClientError
from ottla.configs.value import Password
from ottla.model import ErrorCode
from ottla.security.sasl.mechanism import Mechanism
from ottla.security.sasl.scram_credential import (
    SCRAM_BY_NAME,
    ScramMechanism,
    check_iterations,
)

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
    admin: Admin, terminal: Terminal, users: Sequence[str], *, as_json: bool
) -> None:
    results = await _describe(admin, users)
    if not as_json:
        table = new_table("user", "mechanism", "iterations", right=("iterations",))
    for user in results:
        for credential in _credentials(results, user):
            mechanism = credential.mechanism.mechanism
            if as_json:
                terminal.print_json(
                    {"user": user, "mechanism": mechanism, "iterations": credential.iterations}
                )
            else:
                table.add_row(user, mechanism, str(credential.iterations))
    if as_json:
        return
    if len(results):
        terminal.stdout.print(table)
    else:
        terminal.notice("No user has SCRAM credentials.")


async def set_password(
    admin: Admin, terminal: Terminal, new: NewPassword, *, as_json: bool
) -> None:
    """One request for each mechanism: a request may name a user once only."""
    for mechanism in new.mechanisms:
        password = ScramPassword(new.user, new.password, mechanism, new.iterations)
        with doing(f"set the password of {new.user}"):
            (await admin.alter_user_scram_credentials([password])).all()
        _report(terminal, new.user, mechanism, "set", as_json=as_json)


async def delete_user(
    admin: Admin,
    terminal: Terminal,
    user: str,
    mechanisms: Sequence[ScramMechanism],
    *,
    as_json: bool,
) -> None:
    known = _credentials(await _describe(admin, [user]), user)
    for mechanism in mechanisms or [each.mechanism for each in known]:
        with doing(f"delete the credential of {user}"):
            deletion = ScramDeletion(user, mechanism)
            (await admin.alter_user_scram_credentials([deletion])).all()
        _report(terminal, user, mechanism, "deleted", as_json=as_json)


async def _describe(
    admin: Admin, users: Sequence[str]
) -> Results[str, tuple[ScramCredentialInfo, ...]]:
    with doing("list the users"):
        return await admin.describe_user_scram_credentials(users or None)


def _credentials(
    results: Results[str, tuple[ScramCredentialInfo, ...]], user: str
) -> tuple[ScramCredentialInfo, ...]:
    error = results.error(user)
    if error is not None:
        raise _unknown(user, error)
    return results[user]


def _unknown(user: str, error: ClientError) -> CommandError:
    if isinstance(error, ApiError) and error.code is ErrorCode.RESOURCE_NOT_FOUND:
        return CommandError(
            f"The user {user} has no SCRAM credentials.",
            "`ottla users list` shows the users that have them.",
        )
    return refused(f"describe the user {user}", error)


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
