"""OffsetDelete, version 0: deletes committed offsets of a group (KIP-496).

Errors: GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP if it has
members that are not consumers, and those of the coordinator itself; per partition:
TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, GROUP_SUBSCRIBED_TO_TOPIC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_requests import take_unknown
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.network.refused_topics import refused_topics
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


@handles(
    ApiKey.OFFSET_DELETE,
    rights=(
        Right(AclOperation.DELETE, ResourceType.GROUP),
        Right(AclOperation.READ, ResourceType.TOPIC),
    ),
)
def offset_delete(
    context: RequestContext,
    request: OffsetDeleteRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    if not context.rights.allows(AclOperation.DELETE, ResourceType.GROUP, request.group_id):
        return OffsetDeleteResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not request.group_id:
        return OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    refused = _take_refused(cluster, context.rights, request)
    pending = Pending()

    def reply(response: OffsetDeleteResponse) -> None:
        if not response.error_code:
            response.topics += refused
        pending.resolve(response)

    groups.submit(request.group_id, lambda groups: groups.delete_offsets(request), reply, _refuse)
    return pending.answer


def _take_refused(
    cluster: ClusterView, rights: Rights, request: OffsetDeleteRequest
) -> list[OffsetDeleteResponseTopic]:
    """Removes unauthorized topics and unknown partitions from the request and returns their
    errors."""
    refused = []
    unauthorized = refused_topics(rights, AclOperation.READ, request.topics)
    for requested in request.topics:
        topic = cluster.image.topics.by_name.get(requested.name)
        known = () if topic is None else topic.partitions
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if requested.name in unauthorized:
            known, error = (), ErrorCode.TOPIC_AUTHORIZATION_FAILED
        unknown = take_unknown(requested, known)
        if unknown:
            answers = [
                OffsetDeleteResponsePartition(partition_index=index, error_code=error)
                for index in unknown
            ]
            refused.append(OffsetDeleteResponseTopic(name=requested.name, partitions=answers))
    request.topics = [topic for topic in request.topics if topic.partitions]
    return refused


def _refuse(error: KafkaError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=error.code)
