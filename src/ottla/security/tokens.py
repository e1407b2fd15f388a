"""Delegation tokens (KIP-48): an id, and the HMAC of the id with a secret that all nodes share.

The metadata log has tokens without their HMACs. A client authenticates with SCRAM: the id is the
name, the Base64 of the HMAC the password.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from ottla.configs.value import Password
from ottla.security.principal import Principal, parse_principal
from ottla.security.sasl.scram import TokenCredential
from ottla.security.sasl.scram_credential import (
    ScramCredential,
    ScramMechanism,
    derived_text,
    make_credential,
)
from ottla.wire.stored.cluster_metadata.security import DelegationTokenRecord

_HASH: Final = "sha512"
_TIMESTAMP_MAX: Final = (1 << 63) - 1
_CREDENTIALS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class TokenLifetimes:
    """`delegation.token.max.lifetime.ms` and `delegation.token.expiry.time.ms`."""

    max_lifetime_ms: int
    expiry_time_ms: int


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token without its HMAC."""

    id: str
    owner: Principal
    # Who created it, perhaps for another owner (KIP-373).
    requester: Principal
    renewers: tuple[Principal, ...]
    issued_at_ms: int
    # Until when it can be renewed, and when it expires unless it is.
    max_at_ms: int
    expires_at_ms: int

    def is_expired(self, *, now_ms: int) -> bool:
        return now_ms > min(self.max_at_ms, self.expires_at_ms)

    def may_be_renewed_by(self, principal: Principal) -> bool:
        """Whether the principal may renew and expire it. As in Kafka, who created it for another
        owner may not."""
        return principal == self.owner or principal in self.renewers

    def is_visible_to(self, principal: Principal) -> bool:
        """Whether the principal may describe it without a right to."""
        return principal == self.requester or self.may_be_renewed_by(principal)

    def renewed(self, period_ms: int, *, lifetimes: TokenLifetimes, now_ms: int) -> DelegationToken:
        """With its expiry moved to `period_ms` from now (0 or less: the configured time)."""
        period_ms = _shorter(period_ms, lifetimes.expiry_time_ms)
        return replace(self, expires_at_ms=min(self.max_at_ms, _later(now_ms, period_ms)))

    def expiring(self, period_ms: int, *, now_ms: int) -> DelegationToken:
        """With its expiry set to `period_ms` from now."""
        assert period_ms >= 0
        return replace(self, expires_at_ms=min(self.max_at_ms, _later(now_ms, period_ms)))

    def to_record(self) -> DelegationTokenRecord:
        return DelegationTokenRecord(
            owner=str(self.owner),
            requester=str(self.requester),
            renewers=[str(renewer) for renewer in self.renewers],
            issue_timestamp=self.issued_at_ms,
            max_timestamp=self.max_at_ms,
            expiration_timestamp=self.expires_at_ms,
            token_id=self.id,
        )

    @classmethod
    def from_record(cls, record: DelegationTokenRecord) -> DelegationToken:
        return cls(
            id=record.token_id,
            owner=parse_principal(record.owner),
            requester=parse_principal(record.requester),
            renewers=tuple(parse_principal(renewer) for renewer in record.renewers),
            issued_at_ms=record.issue_timestamp,
            max_at_ms=record.max_timestamp,
            expires_at_ms=record.expiration_timestamp,
        )


def new_token(
    token_id: str,
    *,
    owner: Principal,
    requester: Principal,
    renewers: Iterable[Principal],
    max_lifetime_ms: int,
    lifetimes: TokenLifetimes,
    now_ms: int,
) -> DelegationToken:
    """A token as CreateDelegationToken makes it. A `max_lifetime_ms` of 0 or less means the
    configured one, which also limits a longer one."""
    max_at_ms = _later(now_ms, _shorter(max_lifetime_ms, lifetimes.max_lifetime_ms))
    return DelegationToken(
        id=token_id,
        owner=owner,
        requester=requester,
        renewers=tuple(renewers),
        issued_at_ms=now_ms,
        max_at_ms=max_at_ms,
        expires_at_ms=min(max_at_ms, _later(now_ms, lifetimes.expiry_time_ms)),
    )


def hmac_of(token_id: str, secret_key: Password) -> bytes:
    """The token's secret. `secret_key` is `delegation.token.secret.key`."""
    return hmac.digest(secret_key.value.encode(), token_id.encode(), _HASH)


def token_of_hmac(
    tokens: Iterable[DelegationToken], given: bytes, *, secret_key: Password
) -> DelegationToken | None:
    """The token of which a client has sent the HMAC. Takes as long wherever it is found."""
    found = None
    for token in tokens:
        if hmac.compare_digest(hmac_of(token.id, secret_key), given):
            found = token
    return found


class TokenCredentials:
    """Delegation tokens as SCRAM users of one mechanism. Making a credential takes milliseconds, so
    the last ones used are kept."""

    def __init__(
        self,
        mechanism: ScramMechanism,
        token_of: Callable[[str], DelegationToken | None],
        *,
        secret_key: Password,
    ) -> None:
        self._mechanism = mechanism
        self._token_of = token_of
        self._secret_key = secret_key
        self._credentials: OrderedDict[str, ScramCredential] = OrderedDict()

    def __call__(self, token_id: str) -> TokenCredential | None:
        """The token's current credential; None if there is no such token."""
        token = self._token_of(token_id)
        if token is None:
            self._credentials.pop(token_id, None)
            return None
        expires_at_ms = min(token.max_at_ms, token.expires_at_ms)
        return TokenCredential(self._credential(token_id), token.owner.name, expires_at_ms)

    def _credential(self, token_id: str) -> ScramCredential:
        credential = self._credentials.pop(token_id, None)
        if credential is None:
            secret = self._secret_key.value.encode()
            salt = derived_text(secret, b"token salt", token_id.encode())
            password = Password(b64encode(hmac_of(token_id, self._secret_key)).decode())
            credential = make_credential(self._mechanism, password, salt=salt.encode())
        self._credentials[token_id] = credential
        if len(self._credentials) > _CREDENTIALS_MAX:
            self._credentials.popitem(last=False)
        return credential


def _shorter(period_ms: int, limit_ms: int) -> int:
    return min(period_ms, limit_ms) if period_ms > 0 else limit_ms


def _later(now_ms: int, period_ms: int) -> int:
    return min(now_ms + period_ms, _TIMESTAMP_MAX)
