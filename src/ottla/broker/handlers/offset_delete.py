"""OffsetDelete, version 0: deletes committed offsets of a group (KIP-496).

Errors: INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP if it has members that are not
consumers, and those of the coordinator itself; per partition: UNKNOWN_TOPIC_OR_PARTITION,
GROUP_SUBSCRIBED_TO_TOPIC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_requests import take_unknown
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode, KafkaError
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


@handles(ApiKey.OFFSET_DELETE)
def offset_delete(
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: OffsetDeleteRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
) -> Message | Pending:
    if not request.group_id:
        return OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    unknown = _take_all_unknown(cluster, request)
    pending = Pending()

    def reply(response: OffsetDeleteResponse) -> None:
        if not response.error_code:
            response.topics += unknown
        pending.resolve(response)

    groups.submit(request.group_id, lambda groups: groups.delete_offsets(request), reply, _refuse)
    return pending.answer


def _take_all_unknown(
    cluster: ClusterView, request: OffsetDeleteRequest
) -> list[OffsetDeleteResponseTopic]:
    """Removes unknown partitions from the request and returns their errors."""
    refused = []
    for requested in request.topics:
        topic = cluster.image.topics.by_name.get(requested.name)
        known = () if topic is None else topic.partitions
        unknown = take_unknown(requested, known)
        if unknown:
            answers = [
                OffsetDeleteResponsePartition(
                    partition_index=index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                )
                for index in unknown
            ]
            refused.append(OffsetDeleteResponseTopic(name=requested.name, partitions=answers))
    request.topics = [topic for topic in request.topics if topic.partitions]
    return refused


def _refuse(error: KafkaError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=error.code)
