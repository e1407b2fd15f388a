"""ExpireDelegationToken, versions 1 to 2: shortens the life of a delegation token, or removes it.

Errors are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.controller.operations.delegation_tokens import NO_TIMESTAMP
from ottla.model import KafkaError
from ottla.security.acls.rights import NO_RIGHTS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)


@handles(ApiKey.EXPIRE_DELEGATION_TOKEN, rights=NO_RIGHTS)
async def expire_delegation_token(
    context: RequestContext,
    request: ExpireDelegationTokenRequest,
    *,
    controller: ActiveController,
) -> ExpireDelegationTokenResponse:
    try:
        response: ExpireDelegationTokenResponse = await controller.forward(
            request, context.api_version, rights=context.rights
        )
    except KafkaError as error:
        return ExpireDelegationTokenResponse(
            error_code=error.code, expiry_timestamp_ms=NO_TIMESTAMP
        )
    return response
