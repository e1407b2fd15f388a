"""Runs `ottla tokens`: requests of delegation tokens (KIP-48), over the protocol itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ottla.cli.arguments.moments import parse_moment
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.display.cells import NOTHING, moment
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.tokens.token_properties import write_token_properties
from ottla.runtime.system_clock import SystemClock
from ottla.security.principal import Principal, parse_principal
from ottla.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from ottla.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.wire.messages.renew_delegation_token import RenewDelegationTokenRequest

# For a lifetime or a renewal: what the cluster's configs say. For an expiry: at once.
_DEFAULT_PERIOD_MS: Final = -1


@dataclass(frozen=True, slots=True)
class NewToken:
    owner: Principal | None
    renewers: tuple[Principal, ...]
    max_lifetime_ms: int
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
            parse_period_ms(max_lifetime, "--max-lifetime"),
            out,
        )


def parse_period_ms(text: str | None, option: str) -> int:
    """-1 if there is none. Raises CommandError."""
    if text is None:
        return _DEFAULT_PERIOD_MS
    now_ms = SystemClock().now_ms()
    try:
        period_ms = now_ms - parse_moment(text, now_ms=now_ms)
    except ValueError as error:
        raise _usage(f"{option}: {error}.") from None
    if period_ms <= 0:
        raise _usage(f"{option} {text!r} is not a time span: write an age such as 12h or 7d.")
    return period_ms


async def create_token(
    admin: ClusterAdmin,
    terminal: Terminal,
    new: NewToken,
    options: ClusterOptions,
    *,
    as_json: bool,
) -> None:
    request = CreateDelegationTokenRequest(
        renewers=[
            CreatableRenewers(principal_type=each.type, principal_name=each.name)
            for each in new.renewers
        ],
        max_lifetime_ms=new.max_lifetime_ms,
    )
    if new.owner is not None:
        request.owner_principal_type = new.owner.type
        request.owner_principal_name = new.owner.name
    response = await admin.send_request(request)
    if response.error_code:
        raise refusal("create a delegation token", response.error_code, None)
    hmac = b64encode(response.hmac).decode()
    fields = {
        "token_id": response.token_id,
        "owner": f"{response.principal_type}:{response.principal_name}",
        "expires_ms": response.expiry_timestamp_ms,
        "max_ms": response.max_timestamp_ms,
    }
    if new.out is not None:
        write_token_properties(new.out, resolve(options), response.token_id, hmac)
        terminal.notice(f"wrote {new.out}")
    if as_json:
        terminal.print_json(fields if new.out is not None else fields | {"hmac": hmac})
        return
    table = new_table("what", "value")
    table.add_row("token id", response.token_id)
    if new.out is None:
        table.add_row("hmac", hmac)
    table.add_row("owner", fields["owner"])
    table.add_row("expires", moment(response.expiry_timestamp_ms))
    table.add_row("renewable until", moment(response.max_timestamp_ms))
    terminal.stdout.print(table)


async def list_tokens(
    admin: ClusterAdmin, terminal: Terminal, owners: Sequence[str], *, as_json: bool
) -> None:
    found = await _describe(admin, [_principal(each, "--owner") for each in owners])
    if as_json:
        for each in found:
            terminal.print_json(_fields(each))
        return
    if not found:
        terminal.notice("There are no delegation tokens that you may see.")
        return
    table = new_table("token id", "owner", "requester", "expires", "renewable until", "renewers")
    for each in found:
        fields = _fields(each)
        table.add_row(
            each.token_id,
            fields["owner"],
            fields["requester"],
            moment(each.expiry_timestamp),
            moment(each.max_timestamp),
            " ".join(fields["renewers"]) or NOTHING,
        )
    terminal.stdout.print(table)


async def renew_token(
    admin: ClusterAdmin, terminal: Terminal, token_id: str, period_ms: int, *, as_json: bool
) -> None:
    hmac = await _hmac(admin, token_id)
    request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms)
    response = await admin.send_request(request)
    if response.error_code:
        raise refusal(f"renew token {token_id}", response.error_code, None)
    expires_ms = response.expiry_timestamp_ms
    _report(terminal, token_id, expires_ms, f"expires {moment(expires_ms)}", as_json=as_json)


async def expire_token(
    admin: ClusterAdmin, terminal: Terminal, token_id: str, period_ms: int, *, as_json: bool
) -> None:
    hmac = await _hmac(admin, token_id)
    request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms)
    response = await admin.send_request(request)
    if response.error_code:
        raise refusal(f"expire token {token_id}", response.error_code, None)
    expires_ms = response.expiry_timestamp_ms
    outcome = "is deleted" if period_ms < 0 else f"expires {moment(expires_ms)}"
    _report(terminal, token_id, expires_ms, outcome, as_json=as_json)


async def _hmac(admin: ClusterAdmin, token_id: str) -> bytes:
    """Requests name a token by its HMAC, which is a password: it is looked up, not typed."""
    for each in await _describe(admin, []):
        if each.token_id == token_id:
            return bytes(each.hmac)
    raise CommandError(
        f"There is no token {token_id} that you may see.", "`ottla tokens list` shows them."
    )


async def _describe(admin: ClusterAdmin, owners: Sequence[Principal]) -> list[Any]:
    owners_requested = [
        DescribeDelegationTokenOwner(principal_type=each.type, principal_name=each.name)
        for each in owners
    ]
    response = await admin.send_request(
        DescribeDelegationTokenRequest(owners=owners_requested or None)
    )
    if response.error_code:
        raise refusal("list the delegation tokens", response.error_code, None)
    return sorted(response.tokens, key=lambda each: int(each.issue_timestamp))


def _fields(token: Any) -> dict[str, Any]:
    owner = f"{token.principal_type}:{token.principal_name}"
    # Nodes before version 3 have no requester.
    requester = f"{token.token_requester_principal_type}:{token.token_requester_principal_name}"
    return {
        "token_id": token.token_id,
        "owner": owner,
        "requester": owner if requester == ":" else requester,
        "issued_ms": token.issue_timestamp,
        "expires_ms": token.expiry_timestamp,
        "max_ms": token.max_timestamp,
        "renewers": [f"{each.principal_type}:{each.principal_name}" for each in token.renewers],
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
