"""CreateTopics, versions 2 to 7. The response is sent when the topics can be used.

Errors per topic are those of the controller's operation; KAFKA_STORAGE_ERROR for all topics if the
controller's disk fails, REQUEST_TIMED_OUT if no controller responds or the outcome is unknown.
"""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.controller.api_rights import UNDELETE_RIGHTS
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


@handles(
    ApiKey.CREATE_TOPICS,
    rights=(
        Right(AclOperation.CREATE, ResourceType.TOPIC),
        Right(AclOperation.CREATE, ResourceType.CLUSTER),
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC),
        *UNDELETE_RIGHTS,
    ),
)
async def create_topics(
    context: RequestContext,
    request: CreateTopicsRequest,
    *,
    changes: MetadataChanges,
) -> CreateTopicsResponse:
    try:
        response: CreateTopicsResponse = await changes.request(
            request, context.api_version, context.rights, client_id=context.client_id
        )
    except KafkaError as error:
        return CreateTopicsResponse(
            topics=[
                CreatableTopicResult(
                    name=topic.name, error_code=error.code, error_message=error.message
                )
                for topic in request.topics
            ]
        )
    return response
