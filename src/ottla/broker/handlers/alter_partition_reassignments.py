"""AlterPartitionReassignments, versions 0 to 1: changes the replicas of partitions (KIP-455).

Errors per partition are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)


@handles(
    ApiKey.ALTER_PARTITION_REASSIGNMENTS, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),)
)
async def alter_partition_reassignments(
    context: RequestContext,
    request: AlterPartitionReassignmentsRequest,
    *,
    controller: ActiveController,
) -> AlterPartitionReassignmentsResponse:
    try:
        response: AlterPartitionReassignmentsResponse = await controller.ask(
            request, context.api_version, rights=context.rights
        )
    except KafkaError as error:
        return AlterPartitionReassignmentsResponse(
            error_code=error.code, error_message=error.message
        )
    return response
