"""DeleteTopics, versions 1 to 6. The response is sent when this node has removed the topics.

Errors per topic are those of the controller's operation; KAFKA_STORAGE_ERROR for all topics if the
controller's disk fails, REQUEST_TIMED_OUT if no controller responds or the outcome is unknown.
Versions 1 and 2 get INVALID_REQUEST instead of TOPIC_DELETION_DISABLED.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

_DELETION_DISABLED_VERSION: Final = 3


@handles(
    ApiKey.DELETE_TOPICS,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
        Right(AclOperation.DELETE, ResourceType.CLUSTER),
        Right(AclOperation.DELETE, ResourceType.TOPIC),
    ),
)
async def delete_topics(
    context: RequestContext,
    request: DeleteTopicsRequest,
    *,
    changes: MetadataChanges,
) -> DeleteTopicsResponse:
    try:
        response: DeleteTopicsResponse = await changes.request(
            request, context.api_version, context.rights, client_id=context.client_id
        )
    except KafkaError as error:
        return _refuse(request, error)
    if context.api_version < _DELETION_DISABLED_VERSION:
        for result in response.responses:
            if result.error_code == ErrorCode.TOPIC_DELETION_DISABLED:
                result.error_code = ErrorCode.INVALID_REQUEST
    return response


def _refuse(request: DeleteTopicsRequest, error: KafkaError) -> DeleteTopicsResponse:
    named = [DeletableTopicResult(name=name) for name in request.topic_names]
    named += [
        DeletableTopicResult(name=topic.name, topic_id=topic.topic_id) for topic in request.topics
    ]
    for result in named:
        result.error_code = error.code
        result.error_message = error.message
    return DeleteTopicsResponse(responses=named)
