"""ExpireDelegationToken, versions 1 to 2: changes when a token expires, or removes it.

A negative period removes the token now, also one that has expired. Errors:
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, UNSUPPORTED_VERSION,
DELEGATION_TOKEN_NOT_FOUND, DELEGATION_TOKEN_OWNER_MISMATCH, DELEGATION_TOKEN_EXPIRED.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.delegation_tokens import (
    NO_TIMESTAMP,
    check_not_expired,
    check_renewer,
    find_token,
)
from ottla.metadata import MetadataImage
from ottla.model import KafkaError
from ottla.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.wire.stored.cluster_metadata.security import RemoveDelegationTokenRecord


def expire_delegation_token(
    image: MetadataImage, request: ExpireDelegationTokenRequest, context: Context
) -> OperationOutcome[ExpireDelegationTokenResponse]:
    period_ms = request.expiry_time_period_ms
    try:
        token = find_token(image, context, request.hmac)
        check_renewer(token, context)
        if period_ms < 0:
            return OperationOutcome(
                [RemoveDelegationTokenRecord(token_id=token.id)],
                ExpireDelegationTokenResponse(expiry_timestamp_ms=context.now_ms),
            )
        check_not_expired(token, context)
    except KafkaError as error:
        refusal = ExpireDelegationTokenResponse(
            error_code=error.code, expiry_timestamp_ms=NO_TIMESTAMP
        )
        return OperationOutcome([], refusal)
    changed = token.expiring(period_ms, now_ms=context.now_ms)
    response = ExpireDelegationTokenResponse(expiry_timestamp_ms=changed.expires_at_ms)
    return OperationOutcome([changed.to_record()], response)
