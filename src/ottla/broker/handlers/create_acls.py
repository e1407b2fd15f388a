"""CreateAcls, versions 1 to 3: adds access control entries.

Errors per entry are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


@handles(ApiKey.CREATE_ACLS, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
async def create_acls(
    context: RequestContext,
    request: CreateAclsRequest,
    *,
    controller: ActiveController,
) -> CreateAclsResponse:
    try:
        response: CreateAclsResponse = await controller.forward(
            request, context.api_version, rights=context.rights
        )
    except KafkaError as error:
        refused = AclCreationResult(error_code=error.code, error_message=error.message)
        return CreateAclsResponse(results=[refused for _ in request.creations])
    return response
