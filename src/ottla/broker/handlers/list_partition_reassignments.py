"""ListPartitionReassignments, version 0: lists reassignments in progress (KIP-455)."""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
async def list_partition_reassignments(
    context: RequestContext,
    request: ListPartitionReassignmentsRequest,
    *,
    controller: ActiveController,
) -> ListPartitionReassignmentsResponse:
    try:
        response: ListPartitionReassignmentsResponse = await controller.forward(
            request, context.api_version
        )
    except KafkaError as error:
        return ListPartitionReassignmentsResponse(
            error_code=error.code, error_message=error.message
        )
    return response
