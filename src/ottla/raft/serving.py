"""The leader's side of replication: Fetch, and advancing the high watermark.

A fetch offset is the end of the replica's flushed log. The response has the records from that
offset on, or the epoch at which the logs diverge, or a snapshot id. If there is nothing to send,
the fetch is parked until there is, or until its maximum wait time has passed.

Errors in a response: INCONSISTENT_CLUSTER_ID and INVALID_REQUEST at the top level; INVALID_REQUEST,
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH and NOT_LEADER_OR_FOLLOWER for the partition.
"""

from __future__ import annotations

from ottla.model import ErrorCode
from ottla.raft.decisions import ReadLog, Reply
from ottla.raft.log import Diverging, OffsetAndEpoch, SnapshotNeeded, find_obstacle
from ottla.raft.messages import TOPIC, TOPIC_ID, only_partition
from ottla.raft.quorum import Quorum
from ottla.raft.responses import fetch_response
from ottla.raft.states import Leader, ParkedFetch
from ottla.raft.validation import has_other_cluster_id, leader_request_error
from ottla.raft.voter_changes import high_watermark_advanced
from ottla.raft.voters import ReplicaKey
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse


def receive_fetch(quorum: Quorum, number: int, request: FetchRequest, *, now_ms: int) -> None:
    if has_other_cluster_id(quorum, request.cluster_id):
        error = ErrorCode.INCONSISTENT_CLUSTER_ID
        quorum.reply(Reply(number, FetchResponse(error_code=error)))
        return
    requested = only_partition(
        [
            (TOPIC if t.topic_id == TOPIC_ID else t.topic, p.partition, p)
            for t in request.topics
            for p in t.partitions
        ]
    )
    if requested is None:
        quorum.reply(Reply(number, FetchResponse(error_code=ErrorCode.INVALID_REQUEST)))
        return
    replica = request.replica_state
    replica_id = request.replica_id if replica is None else replica.replica_id
    error = _fetch_error(quorum, request, requested, replica_id)
    if error is not ErrorCode.NONE:
        quorum.reply(Reply(number, fetch_response(quorum.leader, quorum.log, error)))
        return
    leader = quorum.state
    assert isinstance(leader, Leader)
    fetch = ParkedFetch(
        ReplicaKey(replica_id, requested.replica_directory_id),
        OffsetAndEpoch(requested.fetch_offset, requested.last_fetched_epoch),
        bytes_max=min(request.max_bytes, requested.partition_max_bytes or request.max_bytes),
        deadline_ms=now_ms + request.max_wait_ms,
        known_high_watermark=requested.high_watermark,
    )
    obstacle = find_obstacle(quorum.log, fetch.position)
    if obstacle is None:
        _note_progress(quorum, leader, fetch, now_ms=now_ms)
    if obstacle is None and not _is_due(quorum, leader, fetch, now_ms):
        leader.parked[number] = fetch
    else:
        _answer(quorum, leader, number, fetch, obstacle)


def _fetch_error(
    quorum: Quorum, request: FetchRequest, requested: FetchPartition, replica_id: int
) -> ErrorCode:
    if (
        min(request.max_wait_ms, requested.fetch_offset, requested.last_fetched_epoch) < 0
        or requested.last_fetched_epoch > requested.current_leader_epoch
        or replica_id == quorum.local.id
    ):
        return ErrorCode.INVALID_REQUEST
    return leader_request_error(quorum, epoch=requested.current_leader_epoch)


def _note_progress(quorum: Quorum, leader: Leader, fetch: ParkedFetch, *, now_ms: int) -> None:
    """Ignores fetches of clients that are not replicas."""
    if fetch.key.id < 0:
        return
    leader.progress.fetched(
        fetch.key,
        offset=fetch.position.offset,
        leader_end_offset=quorum.log.end.offset,
        now_ms=now_ms,
    )
    leader.check_quorum.record_fetch(fetch.key, quorum.voters, now_ms=now_ms)
    maybe_commit(quorum, leader)


def maybe_commit(quorum: Quorum, leader: Leader) -> None:
    leader.progress.local_flushed(quorum.log.flushed_end_offset)
    if leader.progress.maybe_advance_high_watermark():
        assert leader.progress.high_watermark is not None
        quorum.advance_high_watermark(leader.progress.high_watermark)
        high_watermark_advanced(quorum, leader)


def answer_due_fetches(quorum: Quorum, leader: Leader, *, now_ms: int) -> None:
    for number, fetch in list(leader.parked.items()):
        if _is_due(quorum, leader, fetch, now_ms):
            del leader.parked[number]
            _answer(quorum, leader, number, fetch, None)


def _is_due(quorum: Quorum, leader: Leader, fetch: ParkedFetch, now_ms: int) -> bool:
    """If the fetch states the follower's high watermark, it is answered as soon as the leader's is
    greater (KIP-1166)."""
    high_watermark = leader.progress.high_watermark
    return (
        quorum.log.end.offset > fetch.position.offset
        or (high_watermark is not None and high_watermark > fetch.known_high_watermark)
        or now_ms >= fetch.deadline_ms
    )


def _answer(
    quorum: Quorum,
    leader: Leader,
    number: int,
    fetch: ParkedFetch,
    obstacle: Diverging | SnapshotNeeded | None,
) -> None:
    response = fetch_response(
        quorum.leader,
        quorum.log,
        ErrorCode.NONE,
        high_watermark=leader.progress.high_watermark,
        obstacle=obstacle,
    )
    read = None
    if obstacle is None and quorum.log.end.offset > fetch.position.offset:
        read = ReadLog(fetch.position.offset, fetch.bytes_max)
    quorum.reply(Reply(number, response, read))
