"""CreatePartitions, versions 0 to 3. The response is sent when the partitions can be used.

Errors per topic are those of the controller's operation; KAFKA_STORAGE_ERROR for all topics if the
controller's disk fails, REQUEST_TIMED_OUT if no controller responds or the outcome is unknown.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.local_replicas import LocalReplicas
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)


@handles(ApiKey.CREATE_PARTITIONS)
async def create_partitions(
    context: RequestContext,
    request: CreatePartitionsRequest,
    *,
    controller: ActiveController,
    replicas: LocalReplicas,
) -> CreatePartitionsResponse:
    try:
        response: CreatePartitionsResponse = await controller.ask(request, context.api_version)
    except KafkaError as error:
        return CreatePartitionsResponse(
            results=[
                CreatePartitionsTopicResult(
                    name=topic.name, error_code=error.code, error_message=error.message
                )
                for topic in request.topics
            ]
        )
    await replicas.wait_applied()
    return response
