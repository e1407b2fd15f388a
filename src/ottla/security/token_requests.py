"""Who may send requests about delegation tokens, and whether a node has tokens at all."""

from __future__ import annotations

from ottla.configs.value import Password
from ottla.model import ErrorCode, KafkaError
from ottla.security.principal import ANONYMOUS, Principal


def check_requester(principal: Principal) -> None:
    """Raises KafkaError for a principal that may not use these APIs. All clients of a listener
    without authentication are anonymous."""
    if principal.is_from_token or principal == ANONYMOUS:
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
            "requests about delegation tokens are refused on unauthenticated connections, and on "
            "connections authenticated with a delegation token",
        )


def require_enabled(secret_key: Password | None) -> Password:
    if secret_key is None or not secret_key.value:
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED,
            "delegation tokens are disabled; set delegation.token.secret.key on every node",
        )
    return secret_key
