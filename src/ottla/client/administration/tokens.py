"""Delegation tokens (KIP-48): an id and an HMAC with which a client authenticates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from ottla.client.administration.requests import AdminRequests, require
from ottla.security.principal import Principal
from ottla.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from ottla.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.wire.messages.renew_delegation_token import RenewDelegationTokenRequest

# For a lifetime or a renewal: what the cluster's configs say. For an expiry: at once.
_DEFAULT_PERIOD_MS: Final = -1
_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class TokenDescription:
    """A delegation token. Times are in milliseconds since 1970. `hmac` is the password."""

    id: str
    hmac: bytes = field(repr=False)
    owner: Principal
    requester: Principal
    issued_ms: int
    expires_ms: int
    max_ms: int
    renewers: tuple[Principal, ...]


class TokenOperations(AdminRequests):
    """The methods of `Admin` for delegation tokens. A client that has authenticated with a token
    may not use them."""

    async def create_delegation_token(
        self,
        *,
        owner: Principal | None = None,
        renewers: Iterable[Principal] = (),
        max_lifetime: float | None = None,
        timeout: float | None = None,
    ) -> TokenDescription:
        """Creates a token of this client's user, or of another owner. `max_lifetime` is in
        seconds."""
        named = tuple(renewers)
        answer = await self._ask_controller(
            "create a token",
            CreateDelegationTokenRequest(
                owner_principal_type=None if owner is None else owner.type,
                owner_principal_name=None if owner is None else owner.name,
                renewers=[
                    CreatableRenewers(principal_type=each.type, principal_name=each.name)
                    for each in named
                ],
                max_lifetime_ms=_period_ms(max_lifetime),
            ),
            timeout,
            lambda answer: require(answer.error_code),
        )
        return TokenDescription(
            answer.token_id,
            bytes(answer.hmac),
            *_principals(answer),
            answer.issue_timestamp_ms,
            answer.expiry_timestamp_ms,
            answer.max_timestamp_ms,
            named,
        )

    async def describe_delegation_tokens(
        self, owners: Iterable[Principal] | None = None, *, timeout: float | None = None
    ) -> list[TokenDescription]:
        """The tokens that this client may see, of these owners or of all, the oldest first."""
        requested = None
        if owners is not None:
            requested = [
                DescribeDelegationTokenOwner(principal_type=each.type, principal_name=each.name)
                for each in owners
            ]
        answer = await self._ask_controller(
            "list tokens",
            DescribeDelegationTokenRequest(owners=requested),
            timeout,
            lambda answer: require(answer.error_code),
        )
        return sorted(map(_described, answer.tokens), key=lambda each: each.issued_ms)

    async def renew_delegation_token(
        self, hmac: bytes, *, period: float | None = None, timeout: float | None = None
    ) -> int:
        """Extends the life of a token by these seconds. Returns when it expires, in milliseconds
        since 1970."""
        answer = await self._ask_controller(
            "renew the token",
            RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=_period_ms(period)),
            timeout,
            lambda answer: require(answer.error_code),
        )
        return int(answer.expiry_timestamp_ms)

    async def expire_delegation_token(
        self, hmac: bytes, *, period: float | None = None, timeout: float | None = None
    ) -> int:
        """Lets a token expire after these seconds, or deletes it. Returns when it expires."""
        answer = await self._ask_controller(
            "expire the token",
            ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=_period_ms(period)),
            timeout,
            lambda answer: require(answer.error_code),
        )
        return int(answer.expiry_timestamp_ms)


def _period_ms(seconds: float | None) -> int:
    return _DEFAULT_PERIOD_MS if seconds is None else round(seconds * _MS)


def _described(token: DescribedDelegationToken) -> TokenDescription:
    return TokenDescription(
        token.token_id,
        bytes(token.hmac),
        *_principals(token),
        token.issue_timestamp,
        token.expiry_timestamp,
        token.max_timestamp,
        tuple(Principal(each.principal_type, each.principal_name) for each in token.renewers),
    )


def _principals(answer: Any) -> tuple[Principal, Principal]:
    """The owner and the requester, whom nodes before version 3 do not say."""
    owner = Principal(answer.principal_type, answer.principal_name)
    name = answer.token_requester_principal_name
    if not name:
        return owner, owner
    return owner, Principal(answer.token_requester_principal_type, name)
