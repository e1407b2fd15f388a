"""ListPartitionReassignments, version 0: lists reassignments in progress (KIP-455)."""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


@handles(
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    rights=(Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),),
)
def list_partition_reassignments(
    context: RequestContext,
    request: ListPartitionReassignmentsRequest,
    *,
    controller: ActiveController,
) -> Awaitable[ListPartitionReassignmentsResponse]:
    return forward(controller, request, context.api_version, context.rights)
