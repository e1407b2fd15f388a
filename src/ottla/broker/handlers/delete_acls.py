"""DeleteAcls, versions 1 to 3: deletes the access control entries that match filters.

Errors per filter are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)


@handles(ApiKey.DELETE_ACLS, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
async def delete_acls(
    context: RequestContext,
    request: DeleteAclsRequest,
    *,
    controller: ActiveController,
) -> DeleteAclsResponse:
    try:
        response: DeleteAclsResponse = await controller.forward(
            request, context.api_version, rights=context.rights
        )
    except KafkaError as error:
        refused = DeleteAclsFilterResult(error_code=error.code, error_message=error.message)
        return DeleteAclsResponse(filter_results=[refused for _ in request.filters])
    return response
