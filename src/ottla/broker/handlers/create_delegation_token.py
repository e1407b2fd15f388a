"""CreateDelegationToken, versions 1 to 3: creates a delegation token.

Errors are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.controller.operations.delegation_tokens import NO_TIMESTAMP
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)


@handles(
    ApiKey.CREATE_DELEGATION_TOKEN, rights=(Right(AclOperation.CREATE_TOKENS, ResourceType.USER),)
)
async def create_delegation_token(
    context: RequestContext,
    request: CreateDelegationTokenRequest,
    *,
    controller: ActiveController,
) -> CreateDelegationTokenResponse:
    try:
        response: CreateDelegationTokenResponse = await controller.forward(
            request, context.api_version, rights=context.rights
        )
    except KafkaError as error:
        return CreateDelegationTokenResponse(
            error_code=error.code,
            issue_timestamp_ms=NO_TIMESTAMP,
            expiry_timestamp_ms=NO_TIMESTAMP,
            max_timestamp_ms=NO_TIMESTAMP,
        )
    return response
