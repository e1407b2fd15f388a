"""What the operations on delegation tokens have in common, and the removal of expired ones."""

from __future__ import annotations

from itertools import islice
from typing import Final

from ottla.configs.value import Password
from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage
from ottla.metadata.features import DELEGATION_TOKEN_LEVEL
from ottla.model import ErrorCode, KafkaError
from ottla.security.delegation_token import (
    check_requester,
    find_token,
    is_expired,
    is_owner_or_renewer,
    require_enabled,
)
from ottla.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.wire.stored.cluster_metadata.security import (
    DelegationTokenRecord,
    RemoveDelegationTokenRecord,
)

# In responses that refuse a request.
NO_TIMESTAMP: Final = -1
_TIMESTAMP_MAX: Final = 2**63 - 1
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


def find_renewable(image: MetadataImage, context: Context, mac: bytes) -> DelegationTokenRecord:
    """The token with that HMAC, expired or not. Raises KafkaError if there is none."""
    return find_token(image.delegation_tokens.values(), check_tokens(image, context), mac)


def check_renewer(token: DelegationTokenRecord, context: Context) -> None:
    """The principal that requested a token for another one may not renew it."""
    if not is_owner_or_renewer(token, context.rights.principal):
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH,
            "only the owner and the renewers of a delegation token can renew it or expire it",
        )


def check_not_expired(token: DelegationTokenRecord, context: Context) -> None:
    if is_expired(token, context.now_ms):
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_EXPIRED, "the delegation token has expired; create another"
        )


def later(now_ms: int, period_ms: int) -> int:
    return min(now_ms + period_ms, _TIMESTAMP_MAX)


def with_expiration(token: DelegationTokenRecord, expiration_ms: int) -> DelegationTokenRecord:
    return DelegationTokenRecord(
        owner=token.owner,
        requester=token.requester,
        renewers=token.renewers,
        issue_timestamp=token.issue_timestamp,
        max_timestamp=token.max_timestamp,
        expiration_timestamp=min(expiration_ms, token.max_timestamp),
        token_id=token.token_id,
    )


def has_expired_tokens(image: MetadataImage, now_ms: int) -> bool:
    return any(is_expired(token, now_ms) for token in image.delegation_tokens.values())


def remove_expired_tokens(
    image: MetadataImage,
    request: ExpireDelegationTokenRequest,  # noqa: ARG001 - every operation's signature
    context: Context,
) -> OperationOutcome[ExpireDelegationTokenResponse]:
    """Removes some of the expired tokens; the controller repeats it while there are any."""
    tokens = image.delegation_tokens.values()
    expired = (token for token in tokens if is_expired(token, context.now_ms))
    return OperationOutcome(
        [
            RemoveDelegationTokenRecord(token_id=token.token_id)
            for token in islice(expired, _REMOVALS_MAX)
        ],
        ExpireDelegationTokenResponse(),
    )
