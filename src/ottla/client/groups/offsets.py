"""Commits and fetches the offsets of a group.

Commits of one consumer are sent one after the other, each after the response to the one before. So
an older commit, which may have to be repeated, never overtakes a newer one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ottla.client.cluster import ClientCluster, CoordinatorKind, within
from ottla.client.errors import CommitFailedError, error_for, require
from ottla.client.records import ConsumerGroupMetadata, OffsetAndMetadata
from ottla.model import ZERO_UUID, ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

# The last versions with topic names; for topics whose ids are not known.
_NAMES_COMMIT_VERSION: Final = 9
_NAMES_FETCH_VERSION: Final = 9
_NO_OFFSET: Final = -1
# The member is not, or no longer, what the coordinator has under its id.
FENCED: Final = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.FENCED_MEMBER_EPOCH,
    }
)


class OffsetsOfGroup:
    """The offsets of one group, as one consumer commits them.

    `identity` returns who it is at the time of a request, and `owner` something that stays the same
    as long as it keeps a partition: a commit is not repeated after a rebalance in which another
    member may have committed more. `on_fenced` is called if the coordinator refuses the member.
    """

    def __init__(
        self,
        cluster: ClientCluster,
        identity: Callable[[], ConsumerGroupMetadata],
        owner: Callable[[TopicPartition], object],
        on_fenced: Callable[[ErrorCode, ConsumerGroupMetadata], None],
    ) -> None:
        self._cluster = cluster
        self._identity = identity
        self._owner = owner
        self._on_fenced = on_fenced
        # Of the commit that is sent now.
        self._turn = asyncio.Lock()

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], *, deadline: float
    ) -> None:
        """Raises ClientError, after which a part of the offsets may be committed."""
        if not offsets:
            return
        owners = {name: self._owner(name) for name in offsets}
        what = f"committing offsets of group {self._identity().group_id}"
        await within(self._cluster.clock, deadline, self._turn.acquire(), what=what)
        try:
            left = dict(offsets)
            await self._cluster.retrying(
                what, lambda: self._commit(left, owners), deadline=deadline
            )
        finally:
            self._turn.release()

    async def committed(
        self, partitions: Iterable[TopicPartition], *, deadline: float, requires_stable: bool = True
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The committed offset of each partition; None if there is none. Raises ClientError."""
        names = tuple(partitions)
        if not names:
            return {}
        return await self._cluster.retrying(
            f"fetching offsets of group {self._identity().group_id}",
            lambda: self._committed(names, requires_stable),
            deadline=deadline,
        )

    async def _commit(
        self,
        left: dict[TopicPartition, OffsetAndMetadata],
        owners: Mapping[TopicPartition, object],
    ) -> None:
        """One attempt; `left` keeps what is not committed yet."""
        sent_by = self._identity()
        for name in left:
            if self._owner(name) is not owners[name]:
                raise CommitFailedError(
                    ErrorCode.REBALANCE_IN_PROGRESS, f"{name} was given to another member meanwhile"
                )
        ids = {name.topic: self._topic_id(name.topic) for name in left}
        request = OffsetCommitRequest(
            group_id=sent_by.group_id,
            generation_id_or_member_epoch=sent_by.generation_id,
            member_id=sent_by.member_id,
            group_instance_id=sent_by.group_instance_id,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    topic_id=ids[topic],
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=name.partition,
                            committed_offset=position.offset,
                            committed_leader_epoch=position.leader_epoch,
                            committed_metadata=position.metadata,
                        )
                        for name, position in left.items()
                        if name.topic == topic
                    ],
                )
                for topic in ids
            ],
        )
        response: OffsetCommitResponse = await self._cluster.send_to_coordinator(
            CoordinatorKind.GROUP,
            sent_by.group_id,
            request,
            error=_commit_error,
            version_max=None if ZERO_UUID not in ids.values() else _NAMES_COMMIT_VERSION,
        )
        failure: KafkaError | None = None
        names = {topic_id: topic for topic, topic_id in ids.items()}
        for answered in response.topics:
            topic = answered.name or names.get(answered.topic_id, "")
            for partition in answered.partitions:
                which = TopicPartition(topic, partition.partition_index)
                if partition.error_code:
                    failure = self._failure(partition.error_code, which, sent_by)
                else:
                    left.pop(which, None)
        if failure is not None:
            raise failure

    def _failure(
        self, code: int, partition: TopicPartition, sent_by: ConsumerGroupMetadata
    ) -> KafkaError:
        what = f"committing the offset of {partition}"
        error = error_for(code, what)
        now = self._identity()
        if error.code is ErrorCode.STALE_MEMBER_EPOCH and now != sent_by:
            # A heartbeat has brought a new epoch meanwhile: the same commit again, with that.
            return KafkaError(ErrorCode.UNSTABLE_OFFSET_COMMIT, what)
        if error.code in FENCED or error.code is ErrorCode.STALE_MEMBER_EPOCH:
            if error.code in FENCED:
                self._on_fenced(error.code, sent_by)
            return CommitFailedError(
                error.code,
                f"{what}: this consumer is no longer a member of the group, which may have given "
                "its partitions to another. Poll more often, or raise max.poll.interval.ms",
            )
        return error

    async def _committed(
        self, partitions: tuple[TopicPartition, ...], requires_stable: bool
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        asker = self._identity()
        ids = {name.topic: self._topic_id(name.topic) for name in partitions}
        indexes = {
            topic: [each.partition for each in partitions if each.topic == topic] for topic in ids
        }
        request = OffsetFetchRequest(
            group_id=asker.group_id,
            topics=[
                OffsetFetchRequestTopic(name=topic, partition_indexes=indexes[topic])
                for topic in ids
            ],
            groups=[
                OffsetFetchRequestGroup(
                    group_id=asker.group_id,
                    member_id=asker.member_id or None,
                    member_epoch=asker.generation_id if asker.member_id else -1,
                    topics=[
                        OffsetFetchRequestTopics(
                            name=topic, topic_id=ids[topic], partition_indexes=indexes[topic]
                        )
                        for topic in ids
                    ],
                )
            ],
            require_stable=requires_stable,
        )
        response: OffsetFetchResponse = await self._cluster.send_to_coordinator(
            CoordinatorKind.GROUP,
            asker.group_id,
            request,
            error=lambda answer: (
                answer.groups[0].error_code if answer.groups else answer.error_code
            ),
            version_max=None if ZERO_UUID not in ids.values() else _NAMES_FETCH_VERSION,
        )
        found = response.groups[0] if response.groups else response
        what = f"fetching offsets of group {asker.group_id}"
        if found.error_code == ErrorCode.STALE_MEMBER_EPOCH and self._identity() != asker:
            raise KafkaError(ErrorCode.UNSTABLE_OFFSET_COMMIT, what)
        require(found.error_code, what)
        names = {topic_id: topic for topic, topic_id in ids.items()}
        offsets: dict[TopicPartition, OffsetAndMetadata | None] = dict.fromkeys(partitions)
        for answered in found.topics:
            name = answered.name or names.get(getattr(answered, "topic_id", ZERO_UUID), "")
            for each in answered.partitions:
                which = TopicPartition(name, each.partition_index)
                require(each.error_code, f"fetching the offset of {which}")
                if each.committed_offset != _NO_OFFSET:
                    offsets[which] = OffsetAndMetadata(
                        each.committed_offset, each.committed_leader_epoch, each.metadata or ""
                    )
        return offsets

    def _topic_id(self, topic: str) -> Uuid:
        known = self._cluster.metadata.topics.get(topic)
        return ZERO_UUID if known is None else known.topic_id


def _commit_error(response: OffsetCommitResponse) -> int:
    for topic in response.topics:
        for partition in topic.partitions:
            if partition.error_code:
                return partition.error_code
    return 0
