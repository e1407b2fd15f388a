"""Delegation tokens (KIP-48): the HMAC that proves a token, and who may use and see it.

The metadata log has the tokens without their HMACs. Every node computes them with the same
`delegation.token.secret.key`.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Final

from ottla.configs.value import Password
from ottla.model import ErrorCode, KafkaError
from ottla.security.principal import ANONYMOUS, Principal
from ottla.wire.stored.cluster_metadata.security import DelegationTokenRecord

_HASH: Final = "sha512"


def token_hmac(secret_key: Password, token_id: str) -> bytes:
    return hmac.digest(secret_key.value.encode(), token_id.encode(), _HASH)


def find_token(
    tokens: Iterable[DelegationTokenRecord], secret_key: Password, mac: bytes
) -> DelegationTokenRecord:
    """The token with that HMAC. Raises KafkaError if there is none."""
    for token in tokens:
        if hmac.compare_digest(token_hmac(secret_key, token.token_id), mac):
            return token
    raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND, "there is no such delegation token")


def require_enabled(secret_key: Password | None) -> Password:
    if secret_key is None or not secret_key.value:
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED,
            "delegation tokens are disabled; set delegation.token.secret.key on every node",
        )
    return secret_key


def check_requester(principal: Principal) -> None:
    """Raises KafkaError for a principal that may not use the APIs of tokens. Clients of a listener
    without authentication are anonymous."""
    if principal.is_from_token or principal == ANONYMOUS:
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
            "requests about delegation tokens need an authenticated connection, and one that was "
            "not authenticated with a delegation token",
        )


def is_expired(token: DelegationTokenRecord, now_ms: int) -> bool:
    return min(token.max_timestamp, token.expiration_timestamp) < now_ms


def is_owner_or_renewer(token: DelegationTokenRecord, principal: Principal) -> bool:
    user = str(principal)
    return user == token.owner or user in token.renewers
