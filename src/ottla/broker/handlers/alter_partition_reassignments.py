"""AlterPartitionReassignments, versions 0 to 1: changes the replicas of partitions (KIP-455).

Errors per partition are those of the controller's operation; REQUEST_TIMED_OUT if no controller
responds or the outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
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
def alter_partition_reassignments(
    context: RequestContext,
    request: AlterPartitionReassignmentsRequest,
    *,
    controller: ActiveController,
) -> Awaitable[AlterPartitionReassignmentsResponse]:
    return forward(controller, request, context.api_version, context.rights)
