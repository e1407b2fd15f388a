"""ListPartitionReassignments, version 0: the reassignments in progress (KIP-455).

Unknown partitions and partitions without a reassignment are omitted.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage, TopicImage
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def list_partition_reassignments(
    image: MetadataImage, request: ListPartitionReassignmentsRequest, _context: Context
) -> OperationOutcome[ListPartitionReassignmentsResponse]:
    if request.topics is None:
        found = [_ongoing(topic, topic.partitions) for topic in image.topics]
    else:
        found = [
            _ongoing(topic, requested.partition_indexes)
            for requested in request.topics
            if (topic := image.topics.by_name.get(requested.name)) is not None
        ]
    topics = [topic for topic in found if topic.partitions]
    return OperationOutcome(
        [], ListPartitionReassignmentsResponse(error_message=None, topics=topics)
    )


def _ongoing(topic: TopicImage, partition_ids: Iterable[int]) -> OngoingTopicReassignment:
    return OngoingTopicReassignment(
        name=topic.name,
        partitions=[
            OngoingPartitionReassignment(
                partition_index=partition_id,
                replicas=list(partition.replicas),
                adding_replicas=list(partition.adding_replicas),
                removing_replicas=list(partition.removing_replicas),
            )
            for partition_id in partition_ids
            if (partition := topic.partitions.get(partition_id)) is not None
            and (partition.adding_replicas or partition.removing_replicas)
        ],
    )
