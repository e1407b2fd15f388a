"""CreatePartitions, versions 0 to 3. The response is sent when the partitions can be used.

Errors per topic are those of the controller's operation; KAFKA_STORAGE_ERROR for all topics if the
controller's disk fails, REQUEST_TIMED_OUT if no controller responds or the outcome is unknown.
"""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)


@handles(ApiKey.CREATE_PARTITIONS, rights=(Right(AclOperation.ALTER, ResourceType.TOPIC),))
async def create_partitions(
    context: RequestContext,
    request: CreatePartitionsRequest,
    *,
    changes: MetadataChanges,
) -> CreatePartitionsResponse:
    try:
        response: CreatePartitionsResponse = await changes.request(
            request, context.api_version, context.rights, client_id=context.client_id
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
    return response
