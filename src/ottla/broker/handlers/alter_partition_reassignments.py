"""AlterPartitionReassignments, versions 0 to 1: other replicas for partitions (KIP-455).

Errors per partition are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.broker import Broker
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
async def alter_partition_reassignments(
    broker: Broker,
    context: RequestContext,
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsResponse:
    try:
        response: AlterPartitionReassignmentsResponse = await broker.controller.ask(
            request, context.api_version
        )
    except KafkaError as error:
        return AlterPartitionReassignmentsResponse(
            error_code=error.code, error_message=error.message
        )
    return response
