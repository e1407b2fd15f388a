"""DescribeTopicPartitions, version 0: topics by name, one page per request (KIP-966).

The request and `max.request.partition.size.limit` limit the partitions of a page; its cursor is the
start of the next page. Errors per topic: TOPIC_AUTHORIZATION_FAILED after all other topics,
UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION, and INVALID_REQUEST for all topics if the
cursor is invalid.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.broker.administration.authorized_operations import authorized_operations
from ottla.broker.administration.topic_names import unknown_topic_error
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.listener_view import ListenerView
from ottla.metadata import PartitionRegistration, TopicImage
from ottla.model import ErrorCode
from ottla.model.internal_topics import is_internal_topic
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)


@handles(
    ApiKey.DESCRIBE_TOPIC_PARTITIONS, rights=(Right(AclOperation.DESCRIBE, ResourceType.TOPIC),)
)
def describe_topic_partitions(
    context: RequestContext, request: DescribeTopicPartitionsRequest, *, cluster: ClusterView
) -> DescribeTopicPartitionsResponse:
    topics, cursor = cluster.image.topics, request.cursor
    start = cursor.topic_name if cursor else ""
    requested = {topic.name for topic in request.topics}
    if cursor and (cursor.partition_index < 0 or (requested and start not in requested)):
        return _refuse(request)
    rights = context.rights
    refused: list[str] = []
    candidates: Iterable[str] = requested or topics.by_name
    if not rights.is_unrestricted:
        visible = rights.allowed(
            AclOperation.DESCRIBE, ResourceType.TOPIC, candidates, is_audited=bool(requested)
        )
        refused = sorted(name for name in requested - visible if name >= start)
        candidates = visible
    names = sorted(name for name in candidates if name >= start)
    limit = min(request.response_partition_limit, cluster.config.max_request_partition_size_limit)
    page = _Page(
        ListenerView(cluster.image, context.listener), rights, partitions_max=max(limit, 1)
    )
    for name in names:
        topic = topics.by_name.get(name)
        first = cursor.partition_index if cursor and name == start else 0
        if page.is_full:
            page.next_cursor = Cursor(topic_name=name, partition_index=0)
        elif topic is None:
            page.topics.append(_unknown(name, rights))
        else:
            page.add(topic, first)
        if page.next_cursor is not None:
            break
    page.topics += [_unauthorized(name) for name in refused]
    return DescribeTopicPartitionsResponse(topics=page.topics, next_cursor=page.next_cursor)


class _Page:
    """The topics and partitions of one response."""

    def __init__(self, view: ListenerView, rights: Rights, *, partitions_max: int) -> None:
        self.topics: list[DescribeTopicPartitionsResponseTopic] = []
        self.next_cursor: Cursor | None = None
        self._view = view
        self._rights = rights
        self._left = partitions_max

    @property
    def is_full(self) -> bool:
        return self._left == 0

    def add(self, topic: TopicImage, first: int) -> None:
        """Adds a topic's partitions from `first` on, until the page is full."""
        end = min(len(topic.partitions), first + self._left)
        described = [
            self._describe(index, topic.partitions[index])
            for index in range(first, end)
            if index in topic.partitions
        ]
        self.topics.append(
            DescribeTopicPartitionsResponseTopic(
                name=topic.name,
                topic_id=topic.id,
                is_internal=is_internal_topic(topic.name),
                partitions=described,
                topic_authorized_operations=authorized_operations(
                    self._rights, ResourceType.TOPIC, topic.name
                ),
            )
        )
        self._left -= len(described)
        if end < len(topic.partitions):
            self.next_cursor = Cursor(topic_name=topic.name, partition_index=end)

    def _describe(
        self, index: int, partition: PartitionRegistration
    ) -> DescribeTopicPartitionsResponsePartition:
        return DescribeTopicPartitionsResponsePartition(
            partition_index=index,
            leader_id=self._view.leader_of(partition),
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            eligible_leader_replicas=list(partition.eligible_leader_replicas),
            last_known_elr=list(partition.last_known_elr),
            offline_replicas=self._view.offline_replicas(partition),
        )


def _unauthorized(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        name=name,
        is_internal=is_internal_topic(name),
    )


def _unknown(name: str, rights: Rights) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=unknown_topic_error(name),
        name=name,
        is_internal=is_internal_topic(name),
        topic_authorized_operations=authorized_operations(rights, ResourceType.TOPIC, name),
    )


def _refuse(request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(
                error_code=ErrorCode.INVALID_REQUEST, name=topic.name
            )
            for topic in request.topics
        ]
    )
