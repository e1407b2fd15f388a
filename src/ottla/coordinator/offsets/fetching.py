"""OffsetFetch: the committed offsets of a group, for given partitions or for all.

A group or partition without an offset is not an error: the offset is -1. With `require_stable`, a
partition with a pending transactional offset gets UNSTABLE_OFFSET_COMMIT.
"""

from __future__ import annotations

from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.offsets.committed_offset import NO_COMMITTED_OFFSET, CommittedOffset
from ottla.coordinator.offsets.offsets import Offsets
from ottla.model import ErrorCode
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)


class OffsetFetch:
    """One group's part of a request. In every version, topic names are already resolved here."""

    def __init__(
        self,
        groups: Groups,
        offsets: Offsets,
        requested: OffsetFetchRequestGroup,
        *,
        require_stable: bool,
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._requested = requested
        self._group_id = requested.group_id
        self._require_stable = require_stable

    def answer(self) -> OffsetFetchResponseGroup:
        group = self._groups.get(self._group_id)
        if group is not None:
            group.require_may_fetch(
                member_id=self._requested.member_id, epoch=self._requested.member_epoch
            )
        topics = self._all_topics() if self._requested.topics is None else self._requested_topics()
        return OffsetFetchResponseGroup(group_id=self._group_id, topics=topics)

    def _all_topics(self) -> list[OffsetFetchResponseTopics]:
        return [
            OffsetFetchResponseTopics(
                name=topic,
                partitions=[
                    self._partition(topic, partition, committed)
                    for partition, committed in partitions.items()
                ],
            )
            for topic, partitions in self._offsets.of_group(self._group_id).items()
        ]

    def _requested_topics(self) -> list[OffsetFetchResponseTopics]:
        known = self._offsets.of_group(self._group_id)
        topics = []
        for requested in self._requested.topics or ():
            partitions = known.get(requested.name, {})
            answers = []
            for index in requested.partition_indexes:
                committed = partitions.get(index)
                if committed is not None and not committed.is_about(requested.topic_id):
                    committed = None
                answers.append(self._partition(requested.name, index, committed))
            topics.append(
                OffsetFetchResponseTopics(
                    name=requested.name, topic_id=requested.topic_id, partitions=answers
                )
            )
        return topics

    def _partition(
        self, topic: str, index: int, committed: CommittedOffset | None
    ) -> OffsetFetchResponsePartitions:
        if self._require_stable and self._offsets.is_pending(self._group_id, topic, index):
            return no_offset(index, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        if committed is None:
            return no_offset(index)
        return OffsetFetchResponsePartitions(
            partition_index=index,
            committed_offset=committed.offset,
            committed_leader_epoch=committed.leader_epoch,
            metadata=committed.metadata,
        )


def no_offset(index: int, error: ErrorCode = ErrorCode.NONE) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=NO_COMMITTED_OFFSET, error_code=error
    )
