"""OffsetCommit: commits of group members, and of consumers without membership.

A commit without a generation creates the group if it does not exist. Such a group has no members
and no protocol; Kafka calls it simple.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ottla.coordinator.groups.group import Group
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.groups.settings import GroupSettings
from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.offsets.offset_records import offset_record
from ottla.coordinator.runtime.outcome import CoordinatorRecord, Outcome
from ottla.model import NO_TIMESTAMP, ZERO_UUID, ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.wire.messages.txn_offset_commit import TxnOffsetCommitRequestTopic

A = TypeVar("A")

# From this version on clients handle GROUP_ID_NOT_FOUND.
_GROUP_NOT_FOUND_VERSION: Final = 9
_DEFAULT_RETENTION: Final = -1


def require_may_commit(
    groups: Groups, request: OffsetCommitRequest, *, version: int
) -> Group | None:
    """The commit's group, or None if it does not exist yet; raises if the commit is not allowed."""
    epoch = request.generation_id_or_member_epoch
    group = groups.get(request.group_id)
    if group is not None:
        group.require_may_commit(
            member_id=request.member_id,
            instance_id=request.group_instance_id,
            epoch=epoch,
            version=version,
        )
    elif epoch >= 0:
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND
            if version >= _GROUP_NOT_FOUND_VERSION
            else ErrorCode.ILLEGAL_GENERATION,
            f"Group {request.group_id} not found.",
        )
    return group


@dataclass(slots=True, kw_only=True)
class OffsetCommits:
    """Collects the records of one request."""

    group_id: str
    settings: GroupSettings
    now_ms: int
    expire_timestamp: int = NO_TIMESTAMP
    records: list[CoordinatorRecord] = field(default_factory=list)

    def add(
        self,
        topic: OffsetCommitRequestTopic | TxnOffsetCommitRequestTopic,
        answer: Callable[..., A],
        *,
        topic_id: Uuid = ZERO_UUID,
    ) -> list[A]:
        """Adds the records of a topic. Returns an answer for each partition, which is a struct of
        the request's API. An offset with metadata that is too long gets an error, and no record."""
        length_max = self.settings.offset_metadata_max_bytes
        answers = []
        for partition in topic.partitions:
            index, metadata = partition.partition_index, partition.committed_metadata or ""
            if len(metadata) > length_max:
                error = ErrorCode.OFFSET_METADATA_TOO_LARGE
                answers.append(answer(partition_index=index, error_code=error))
                continue
            committed = CommittedOffset(
                partition.committed_offset,
                partition.committed_leader_epoch,
                metadata,
                self.now_ms,
                self.expire_timestamp,
                topic_id,
            )
            name = TopicPartition(topic.name, index)
            self.records.append(offset_record(self.group_id, name, committed))
            answers.append(answer(partition_index=index))
        return answers


def commit_offsets(
    request: OffsetCommitRequest, settings: GroupSettings, *, now_ms: int
) -> Outcome:
    """The records and the response. In every request version, topic names and ids are already
    resolved here."""
    expire_timestamp: int = NO_TIMESTAMP
    if request.retention_time_ms != _DEFAULT_RETENTION:
        expire_timestamp = now_ms + request.retention_time_ms
    commits = OffsetCommits(
        group_id=request.group_id,
        settings=settings,
        now_ms=now_ms,
        expire_timestamp=expire_timestamp,
    )
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=commits.add(topic, OffsetCommitResponsePartition, topic_id=topic.topic_id),
        )
        for topic in request.topics
    ]
    return Outcome(commits.records, OffsetCommitResponse(topics=topics))
