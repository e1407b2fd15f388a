"""What the operations on delegation tokens have in common, and the removal of expired ones."""

from __future__ import annotations

from itertools import islice
from typing import Final

from ottla.configs import NodeConfig
from ottla.configs.value import Password
from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage
from ottla.metadata.features import DELEGATION_TOKEN_LEVEL
from ottla.model import ErrorCode, KafkaError
from ottla.security.token_requests import check_requester, require_enabled
from ottla.security.tokens import DelegationToken, TokenLifetimes, token_of_hmac
from ottla.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.wire.stored.cluster_metadata.security import RemoveDelegationTokenRecord

# In responses that refuse a request.
NO_TIMESTAMP: Final = -1
_REMOVALS_MAX: Final = 1_000


def check_tokens(image: MetadataImage, context: Context) -> Password:
    """The secret key. Raises KafkaError if tokens are disabled, or the sender may not use them."""
    check_requester(context.rights.principal)
    secret_key = require_enabled(context.node.delegation_token_secret_key)
    if image.metadata_version < DELEGATION_TOKEN_LEVEL:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"delegation tokens need metadata.version {DELEGATION_TOKEN_LEVEL}; upgrade it",
        )
    return secret_key


def find_token(image: MetadataImage, context: Context, token_hmac: bytes) -> DelegationToken:
    """The token with that HMAC, expired or not. Raises KafkaError if there is none."""
    secret_key = check_tokens(image, context)
    tokens = map(DelegationToken.from_record, image.delegation_tokens.values())
    token = token_of_hmac(tokens, token_hmac, secret_key=secret_key)
    if token is None:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND, "there is no such delegation token")
    return token


def check_renewer(token: DelegationToken, context: Context) -> None:
    if not token.may_be_renewed_by(context.rights.principal):
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH,
            "only the owner and the renewers of a delegation token can renew it or expire it",
        )


def check_not_expired(token: DelegationToken, context: Context) -> None:
    if token.is_expired(now_ms=context.now_ms):
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_EXPIRED, "the delegation token has expired; create another"
        )


def token_lifetimes(node: NodeConfig) -> TokenLifetimes:
    return TokenLifetimes(
        node.delegation_token_max_lifetime_ms, node.delegation_token_expiry_time_ms
    )


def expired_tokens(image: MetadataImage, now_ms: int) -> list[str]:
    """The ids of expired tokens, at most as many as are removed at once."""
    tokens = map(DelegationToken.from_record, image.delegation_tokens.values())
    expired = (token.id for token in tokens if token.is_expired(now_ms=now_ms))
    return list(islice(expired, _REMOVALS_MAX))


def remove_expired_tokens(
    image: MetadataImage,
    request: ExpireDelegationTokenRequest,  # noqa: ARG001 - every operation's signature
    context: Context,
) -> OperationOutcome[ExpireDelegationTokenResponse]:
    """Removes some of the expired tokens; the controller repeats it while there are any."""
    return OperationOutcome(
        [
            RemoveDelegationTokenRecord(token_id=token_id)
            for token_id in expired_tokens(image, context.now_ms)
        ],
        ExpireDelegationTokenResponse(),
    )
