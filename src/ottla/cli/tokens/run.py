"""Runs `ottla tokens`: delegation tokens (KIP-48)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ottla.cli.arguments.moments import parse_moment
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.display.cells import NOTHING, moment
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.tokens.token_properties import write_token_properties
from ottla.client.administration.admin import Admin
from ottla.client.administration.tokens import TokenDescription
from ottla.runtime.system_clock import SystemClock
from ottla.security.principal import Principal, parse_principal

_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class NewToken:
    owner: Principal | None
    renewers: tuple[Principal, ...]
    max_lifetime: float | None
    out: Path | None

    @classmethod
    def of(
        cls, owner: str | None, renewers: Sequence[str], max_lifetime: str | None, out: Path | None
    ) -> NewToken:
        """Raises CommandError."""
        if out is not None and out.exists():
            raise _usage(f"{out} exists already.", "Remove it, or choose another --out.")
        return cls(
            None if owner is None else _principal(owner, "--owner"),
            tuple(_principal(each, "--renewer") for each in renewers),
            parse_period(max_lifetime, "--max-lifetime"),
            out,
        )


def parse_period(text: str | None, option: str) -> float | None:
    """Seconds. Raises CommandError."""
    if text is None:
        return None
    now_ms = SystemClock().now_ms()
    try:
        period_ms = now_ms - parse_moment(text, now_ms=now_ms)
    except ValueError as error:
        raise _usage(f"{option}: {error}.") from None
    if period_ms <= 0:
        raise _usage(f"{option} {text!r} is not a time span: write an age such as 12h or 7d.")
    return period_ms / _MS


async def create_token(
    admin: Admin,
    terminal: Terminal,
    new: NewToken,
    options: ClusterOptions,
    *,
    as_json: bool,
) -> None:
    with doing("create a delegation token"):
        token = await admin.create_delegation_token(
            owner=new.owner, renewers=new.renewers, max_lifetime=new.max_lifetime
        )
    hmac = b64encode(token.hmac).decode()
    fields = {
        "token_id": token.id,
        "owner": str(token.owner),
        "expires_ms": token.expires_ms,
        "max_ms": token.max_ms,
    }
    if new.out is not None:
        write_token_properties(new.out, resolve(options), token.id, hmac)
        terminal.notice(f"wrote {new.out}")
    if as_json:
        terminal.print_json(fields if new.out is not None else fields | {"hmac": hmac})
        return
    table = new_table("what", "value")
    table.add_row("token id", token.id)
    if new.out is None:
        table.add_row("hmac", hmac)
    table.add_row("owner", str(token.owner))
    table.add_row("expires", moment(token.expires_ms))
    table.add_row("renewable until", moment(token.max_ms))
    terminal.stdout.print(table)


async def list_tokens(
    admin: Admin, terminal: Terminal, owners: Sequence[str], *, as_json: bool
) -> None:
    chosen = [_principal(each, "--owner") for each in owners]
    with doing("list the delegation tokens"):
        found = await admin.describe_delegation_tokens(chosen or None)
    if as_json:
        for each in found:
            terminal.print_json(_fields(each))
        return
    if not found:
        terminal.notice("There are no delegation tokens that you may see.")
        return
    table = new_table("token id", "owner", "requester", "expires", "renewable until", "renewers")
    for each in found:
        table.add_row(
            each.id,
            str(each.owner),
            str(each.requester),
            moment(each.expires_ms),
            moment(each.max_ms),
            " ".join(map(str, each.renewers)) or NOTHING,
        )
    terminal.stdout.print(table)


async def renew_token(
    admin: Admin, terminal: Terminal, token_id: str, period: float | None, *, as_json: bool
) -> None:
    hmac = await _hmac(admin, token_id)
    with doing(f"renew token {token_id}"):
        expires_ms = await admin.renew_delegation_token(hmac, period=period)
    _report(terminal, token_id, expires_ms, f"expires {moment(expires_ms)}", as_json=as_json)


async def expire_token(
    admin: Admin, terminal: Terminal, token_id: str, period: float | None, *, as_json: bool
) -> None:
    hmac = await _hmac(admin, token_id)
    with doing(f"expire token {token_id}"):
        expires_ms = await admin.expire_delegation_token(hmac, period=period)
    outcome = "is deleted" if period is None else f"expires {moment(expires_ms)}"
    _report(terminal, token_id, expires_ms, outcome, as_json=as_json)


async def _hmac(admin: Admin, token_id: str) -> bytes:
    """Requests name a token by its HMAC, which is a password: it is looked up, not typed."""
    with doing("list the delegation tokens"):
        tokens = await admin.describe_delegation_tokens()
    for each in tokens:
        if each.id == token_id:
            return each.hmac
    raise CommandError(
        f"There is no token {token_id} that you may see.", "`ottla tokens list` shows them."
    )


def _fields(token: TokenDescription) -> dict[str, Any]:
    return {
        "token_id": token.id,
        "owner": str(token.owner),
        "requester": str(token.requester),
        "issued_ms": token.issued_ms,
        "expires_ms": token.expires_ms,
        "max_ms": token.max_ms,
        "renewers": [str(each) for each in token.renewers],
    }


def _report(
    terminal: Terminal, token_id: str, expires_ms: int, outcome: str, *, as_json: bool
) -> None:
    if as_json:
        terminal.print_json({"token_id": token_id, "expires_ms": expires_ms})
    else:
        terminal.stdout.print(f"token {token_id} {outcome}", markup=False, soft_wrap=True)


def _principal(text: str, option: str) -> Principal:
    try:
        principal = parse_principal(text)
    except ValueError as error:
        raise _usage(f"{option}: {error}.") from None
    if not principal.type or not principal.name:
        raise _usage(f"{option} {text!r} lacks a type or a name: write User:NAME.")
    return principal


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
