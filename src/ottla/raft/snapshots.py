"""Snapshots for replicas whose log ends before the leader's log start (FetchSnapshot, KIP-630).

The machine decides which bytes to read and where to write them; the caller does the I/O. A follower
does not fetch while it downloads a snapshot: its FetchSnapshot requests and their responses show
each side that the other is alive.

Errors in a response: INCONSISTENT_CLUSTER_ID and INVALID_REQUEST at the top level;
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER, SNAPSHOT_NOT_FOUND and
POSITION_OUT_OF_RANGE for the partition.
"""

from __future__ import annotations

from ottla.model import ErrorCode
from ottla.raft.decisions import ReadSnapshot, Reply, SnapshotChunk
from ottla.raft.leader_updates import Handled, error_of, take_response
from ottla.raft.log import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from ottla.raft.messages import PARTITION, TOPIC, LeaderView, only_partition
from ottla.raft.quorum import Quorum
from ottla.raft.responses import fetch_snapshot_response
from ottla.raft.states import Follower, Leader
from ottla.raft.validation import has_other_cluster_id, leader_endpoint, leader_request_error
from ottla.raft.voters import ReplicaKey
from ottla.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartitionSnapshot,
    FetchSnapshotRequestTopicSnapshot,
    FetchSnapshotResponse,
    FetchSnapshotResponsePartitionSnapshot,
    SnapshotId,
)


def receive_fetch_snapshot(
    quorum: Quorum, number: int, request: FetchSnapshotRequest, *, now_ms: int
) -> None:
    if has_other_cluster_id(quorum, request.cluster_id):
        error = ErrorCode.INCONSISTENT_CLUSTER_ID
        quorum.reply(Reply(number, FetchSnapshotResponse(error_code=error)))
        return
    requested = only_partition(
        [(t.name, p.partition, p) for t in request.topics for p in t.partitions]
    )
    if requested is None:
        quorum.reply(Reply(number, FetchSnapshotResponse(error_code=ErrorCode.INVALID_REQUEST)))
        return
    snapshot_id = OffsetAndEpoch(requested.snapshot_id.end_offset, requested.snapshot_id.epoch)
    size = quorum.log.snapshot_size(snapshot_id)
    error = leader_request_error(quorum, epoch=requested.current_leader_epoch)
    if error is ErrorCode.NONE and (size is None or snapshot_id == BOOTSTRAP_SNAPSHOT_ID):
        error = ErrorCode.SNAPSHOT_NOT_FOUND
    elif error is ErrorCode.NONE and not 0 <= requested.position < (size or 0):
        error = ErrorCode.POSITION_OUT_OF_RANGE
    if error is not ErrorCode.NONE:
        quorum.reply(Reply(number, fetch_snapshot_response(quorum.leader, error)))
        return
    assert isinstance(quorum.state, Leader)
    assert size is not None
    key = ReplicaKey(request.replica_id, requested.replica_directory_id)
    quorum.state.check_quorum.record_fetch(key, quorum.voters, now_ms=now_ms)
    response = fetch_snapshot_response(
        quorum.leader, error, snapshot_id=snapshot_id, size=size, position=requested.position
    )
    bytes_max = min(request.max_bytes, size - requested.position)
    quorum.reply(Reply(number, response, ReadSnapshot(snapshot_id, requested.position, bytes_max)))


def fetch_snapshot_request(quorum: Quorum, state: Follower) -> FetchSnapshotRequest:
    assert state.download is not None
    offset, epoch = state.download.id
    partition = FetchSnapshotRequestPartitionSnapshot(
        partition=PARTITION,
        current_leader_epoch=state.epoch,
        snapshot_id=SnapshotId(end_offset=offset, epoch=epoch),
        position=state.download.position,
        replica_directory_id=quorum.local.directory_id,
    )
    return FetchSnapshotRequest(
        cluster_id=quorum.config.cluster_id,
        replica_id=quorum.local.id,
        max_bytes=quorum.config.fetch_snapshot_bytes_max,
        topics=[FetchSnapshotRequestTopicSnapshot(name=TOPIC, partitions=[partition])],
    )


def take_fetch_snapshot_response(
    quorum: Quorum, response: FetchSnapshotResponse, *, now_ms: int
) -> Handled:
    answer = only_partition([(t.name, p.index, p) for t in response.topics for p in t.partitions])
    if response.error_code != ErrorCode.NONE or answer is None or answer.current_leader is None:
        return Handled.FAILED
    leader = answer.current_leader
    endpoint = leader_endpoint(quorum, leader.leader_id, response.node_endpoints)
    view = LeaderView.from_message(leader.leader_id, epoch=leader.leader_epoch, endpoint=endpoint)
    error = error_of(answer.error_code)
    state = quorum.state
    if error is ErrorCode.SNAPSHOT_NOT_FOUND and isinstance(state, Follower):
        # The leader replaced it with a newer one; the response to the next fetch has its id.
        state.download = None
        error = ErrorCode.NONE
    handled = take_response(quorum, error, view, now_ms=now_ms)
    if handled is not None:
        return handled
    if state is not quorum.state or not isinstance(state, Follower):
        return Handled.FAILED
    if state.download is not None and not _take_chunk(quorum, state, answer):
        return Handled.FAILED
    state.leader_responded(fetch_deadline_ms=quorum.fetch_deadline_ms(now_ms))
    return Handled.DONE


def _take_chunk(
    quorum: Quorum, state: Follower, answer: FetchSnapshotResponsePartitionSnapshot
) -> bool:
    """Whether the chunk is the expected one. An empty chunk is refused too, otherwise the follower
    would request it forever."""
    download = state.download
    assert download is not None
    snapshot_id = OffsetAndEpoch(answer.snapshot_id.end_offset, answer.snapshot_id.epoch)
    end = answer.position + len(answer.unaligned_records)
    if (
        download.id != snapshot_id
        or answer.position != download.position
        or not download.position < end <= answer.size
    ):
        state.download = None
        return False
    download.position = end
    download.is_complete = end == answer.size
    quorum.decisions.snapshot_chunk = SnapshotChunk(
        snapshot_id, answer.position, answer.unaligned_records, is_last=download.is_complete
    )
    return True
