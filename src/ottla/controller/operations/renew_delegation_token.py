"""RenewDelegationToken, versions 1 to 2: extends the life of a token up to its maximum.

Errors: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, DELEGATION_TOKEN_AUTH_DISABLED, UNSUPPORTED_VERSION,
DELEGATION_TOKEN_NOT_FOUND, DELEGATION_TOKEN_EXPIRED, DELEGATION_TOKEN_OWNER_MISMATCH.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.delegation_tokens import (
    NO_TIMESTAMP,
    check_not_expired,
    check_renewer,
    find_token,
    token_lifetimes,
)
from ottla.metadata import MetadataImage
from ottla.model import KafkaError
from ottla.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)


def renew_delegation_token(
    image: MetadataImage, request: RenewDelegationTokenRequest, context: Context
) -> OperationOutcome[RenewDelegationTokenResponse]:
    try:
        token = find_token(image, context, request.hmac)
        check_not_expired(token, context)
        check_renewer(token, context)
    except KafkaError as error:
        refusal = RenewDelegationTokenResponse(
            error_code=error.code, expiry_timestamp_ms=NO_TIMESTAMP
        )
        return OperationOutcome([], refusal)
    renewed = token.renewed(
        request.renew_period_ms, lifetimes=token_lifetimes(context.node), now_ms=context.now_ms
    )
    response = RenewDelegationTokenResponse(expiry_timestamp_ms=renewed.expires_at_ms)
    return OperationOutcome([renewed.to_record()], response)
