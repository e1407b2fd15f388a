"""OffsetCommit: commits of group members, and of consumers without membership.

A commit without a generation creates the group if it does not exist. Such a group has no members
and no protocol; Kafka calls it simple.
"""

from __future__ import annotations

from typing import Final

from ottla.coordinator.groups.group import Group
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.groups.settings import GroupSettings
from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.offsets.offset_records import offset_record
from ottla.coordinator.runtime.outcome import CoordinatorRecord, Outcome
from ottla.model import NO_TIMESTAMP, ErrorCode, KafkaError, TopicPartition
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

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


def commit_offsets(
    request: OffsetCommitRequest, settings: GroupSettings, *, now_ms: int
) -> Outcome:
    """The records and the response. In every request version, topic names and ids are already
    resolved here."""
    expire_timestamp: int = NO_TIMESTAMP
    if request.retention_time_ms != _DEFAULT_RETENTION:
        expire_timestamp = now_ms + request.retention_time_ms
    records: list[CoordinatorRecord] = []
    topics = []
    for topic in request.topics:
        answers = []
        for requested in topic.partitions:
            error = check_metadata(requested.committed_metadata, settings)
            answers.append(
                OffsetCommitResponsePartition(
                    partition_index=requested.partition_index, error_code=error
                )
            )
            if error:
                continue
            committed = CommittedOffset(
                requested.committed_offset,
                requested.committed_leader_epoch,
                requested.committed_metadata or "",
                now_ms,
                expire_timestamp,
                topic.topic_id,
            )
            name = TopicPartition(topic.name, requested.partition_index)
            records.append(offset_record(request.group_id, name, committed))
        topics.append(
            OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=answers)
        )
    return Outcome(records, OffsetCommitResponse(topics=topics))


def check_metadata(metadata: str | None, settings: GroupSettings) -> ErrorCode:
    if metadata is not None and len(metadata) > settings.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE
