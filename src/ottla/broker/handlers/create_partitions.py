"""CreatePartitions, versions 0 to 3. The answer comes when the partitions can be used.

Errors per topic are those of the controller's operation, or KAFKA_STORAGE_ERROR for all of them if
its disk fails.
"""

from __future__ import annotations

from ottla.broker.broker import Broker
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)


@handles(ApiKey.CREATE_PARTITIONS)
async def create_partitions(
    broker: Broker,
    context: RequestContext,
    request: CreatePartitionsRequest,
) -> CreatePartitionsResponse:
    try:
        response: CreatePartitionsResponse = await broker.controller.ask(
            request, context.api_version
        )
    except KafkaError as error:
        return CreatePartitionsResponse(
            results=[
                CreatePartitionsTopicResult(
                    name=topic.name, error_code=error.code, error_message=error.message
                )
                for topic in request.topics
            ]
        )
    await broker.replicas.wait_applied()
    return response
