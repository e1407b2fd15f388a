"""TxnOffsetCommit: offsets that take effect when their transaction is committed.

Until the marker is written, they are pending under their producer id. Members are checked as in
OffsetCommit, so that a zombie of an older generation cannot commit (KIP-447). Old clients do not
send a member id or generation; only their producer epoch fences them.
"""

from __future__ import annotations

from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.groups.settings import GroupSettings
from ottla.coordinator.offsets.committing import OffsetCommits
from ottla.coordinator.runtime.outcome import Outcome
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)


def require_may_commit_in_transaction(groups: Groups, request: TxnOffsetCommitRequest) -> None:
    """Raises if the member or generation may not commit. A commit without a generation may create
    the group."""
    group = groups.get(request.group_id)
    if group is None:
        if request.generation_id >= 0:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION, f"Group {request.group_id} not found.")
        return
    try:
        group.require_may_commit(
            member_id=request.member_id,
            instance_id=request.group_instance_id,
            epoch=request.generation_id,
            version=None,
        )
    except KafkaError as error:
        if error.code != ErrorCode.STALE_MEMBER_EPOCH:
            raise
        # Producers handle only ILLEGAL_GENERATION.
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION, error.message) from error


def commit_offsets_in_transaction(
    request: TxnOffsetCommitRequest, settings: GroupSettings, *, now_ms: int
) -> Outcome:
    """The records, to be appended as a part of the producer's transaction."""
    commits = OffsetCommits(group_id=request.group_id, settings=settings, now_ms=now_ms)
    topics = [
        TxnOffsetCommitResponseTopic(
            name=topic.name,
            partitions=commits.add(topic, TxnOffsetCommitResponsePartition),
        )
        for topic in request.topics
    ]
    return Outcome(commits.records, TxnOffsetCommitResponse(topics=topics))
