"""The start and the end of a leader's epoch (BeginQuorumEpoch, EndQuorumEpoch).

A new leader sends BeginQuorumEpoch to the voters, and repeats it to voters that do not fetch. A
leader that resigns sends EndQuorumEpoch with its preferred successors: the voters whose logs are
the longest first.

Errors in a response: INCONSISTENT_CLUSTER_ID and INVALID_REQUEST at the top level;
FENCED_LEADER_EPOCH, INVALID_REQUEST and, for BeginQuorumEpoch, INVALID_VOTER_KEY for the partition.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.model import ErrorCode
from ottla.raft.leader_updates import (
    Handled,
    error_of,
    is_contradicting,
    maybe_adopt_leader,
    take_response,
)
from ottla.raft.messages import PARTITION, TOPIC, LeaderView, only_partition
from ottla.raft.quorum import Quorum
from ottla.raft.responses import begin_response, end_response
from ottla.raft.states import Follower, Leader, Resigned
from ottla.raft.validation import (
    has_other_cluster_id,
    is_for_other_replica,
    leader_endpoint,
    listener_endpoint,
    voter_request_error,
)
from ottla.raft.voters import ReplicaKey
from ottla.wire.messages import begin_quorum_epoch as begin
from ottla.wire.messages import end_quorum_epoch as end
from ottla.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from ottla.wire.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse

# ---- requests from a leader


def receive_begin_quorum_epoch(
    quorum: Quorum, request: BeginQuorumEpochRequest, *, now_ms: int
) -> BeginQuorumEpochResponse:
    if has_other_cluster_id(quorum, request.cluster_id):
        return BeginQuorumEpochResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
    received = only_partition(
        [(t.topic_name, p.partition_index, p) for t in request.topics for p in t.partitions]
    )
    if received is None:
        return BeginQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
    endpoint = listener_endpoint(quorum, request.leader_endpoints)
    view = LeaderView(received.leader_epoch, received.leader_id, endpoint)
    error = _take_leader(quorum, view, now_ms=now_ms)
    is_other = is_for_other_replica(quorum, request.voter_id, received.voter_directory_id)
    if error is ErrorCode.NONE and is_other:
        error = ErrorCode.INVALID_VOTER_KEY
    return begin_response(quorum.leader, error)


def receive_end_quorum_epoch(
    quorum: Quorum, request: EndQuorumEpochRequest, *, now_ms: int
) -> EndQuorumEpochResponse:
    if has_other_cluster_id(quorum, request.cluster_id):
        return EndQuorumEpochResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
    received = only_partition(
        [(t.topic_name, p.partition_index, p) for t in request.topics for p in t.partitions]
    )
    if received is None:
        return EndQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
    endpoint = listener_endpoint(quorum, request.leader_endpoints)
    view = LeaderView(received.leader_epoch, received.leader_id, endpoint)
    error = _take_leader(quorum, view, now_ms=now_ms)
    state = quorum.state
    if error is ErrorCode.NONE and isinstance(state, Follower):
        backoff_ms = _succession_backoff_ms(quorum, _successors(received))
        state.leader_resigned(fetch_deadline_ms=now_ms + backoff_ms)
    return end_response(quorum.leader, error)


def _take_leader(quorum: Quorum, view: LeaderView, *, now_ms: int) -> ErrorCode:
    """If this returns NONE, a follower in this epoch follows this leader."""
    assert view.leader_id is not None
    error = voter_request_error(quorum, view.leader_id, epoch=view.epoch)
    if error is not ErrorCode.NONE:
        return error
    if is_contradicting(quorum, view):
        return ErrorCode.INVALID_REQUEST
    maybe_adopt_leader(quorum, view, now_ms=now_ms)
    return ErrorCode.NONE


def _successors(received: end.EndQuorumEpochRequestPartitionData) -> list[ReplicaKey]:
    preferred = received.preferred_candidates
    keys = [ReplicaKey(each.candidate_id, each.candidate_directory_id) for each in preferred]
    return keys or [ReplicaKey(voter_id) for voter_id in received.preferred_successors]


def _succession_backoff_ms(quorum: Quorum, successors: Sequence[ReplicaKey]) -> int:
    """The first successor starts an election at once; each later one waits twice as long as the one
    before it. A replica that is not in the list waits for the maximum backoff."""
    backoff_max_ms = quorum.config.election_backoff_max_ms
    for position, successor in enumerate(successors):
        if successor.admits(quorum.local):
            base_ms = backoff_max_ms >> (len(successors) - 1)
            return min(base_ms << (position - 1), backoff_max_ms) if position else 0
    return backoff_max_ms


# ---- sent by the leader


def send_begin_quorum_epoch(quorum: Quorum, leader: Leader, *, now_ms: int) -> None:
    """Sent to voters that do not fetch: they do not know the leader yet, or they consider it
    dead."""
    if now_ms < leader.begin_quorum_epoch_ms:
        return
    period_ms = quorum.config.begin_quorum_epoch_ms
    leader.begin_quorum_epoch_ms = now_ms + period_ms
    for key in leader.progress.silent_voters(since_ms=now_ms - period_ms):
        destination = quorum.destination(key.id)
        if destination is None:
            continue
        if not quorum.connections.is_ready(key.id):
            ready_ms = quorum.connections.next_deadline_ms or now_ms + period_ms
            leader.begin_quorum_epoch_ms = min(leader.begin_quorum_epoch_ms, ready_ms)
            continue
        partition = begin.BeginQuorumEpochRequestPartitionData(
            partition_index=PARTITION,
            voter_directory_id=key.directory_id,
            leader_id=quorum.local.id,
            leader_epoch=leader.epoch,
        )
        request = BeginQuorumEpochRequest(
            cluster_id=quorum.config.cluster_id,
            voter_id=key.id,
            topics=[
                begin.BeginQuorumEpochRequestTopicData(topic_name=TOPIC, partitions=[partition])
            ],
            leader_endpoints=[
                begin.LeaderEndpoint(name=name, host=host, port=port)
                for name, host, port in quorum.config.endpoints
            ],
        )
        quorum.send(destination, request, now_ms=now_ms)


def poll_resigned(quorum: Quorum, state: Resigned, *, now_ms: int) -> None:
    """Repeats EndQuorumEpoch; at the election timeout the replica becomes unattached in the next
    epoch."""
    if now_ms >= state.election_deadline_ms:
        quorum.become_unattached(state.epoch + 1, now_ms=now_ms)
        return
    for voter_id in sorted(state.unacknowledged):
        destination = quorum.destination(voter_id)
        if destination is not None and quorum.connections.is_ready(voter_id):
            quorum.send(destination, _end_quorum_epoch(quorum, state), now_ms=now_ms)


def _end_quorum_epoch(quorum: Quorum, state: Resigned) -> EndQuorumEpochRequest:
    partition = end.EndQuorumEpochRequestPartitionData(
        partition_index=PARTITION,
        leader_id=quorum.local.id,
        leader_epoch=state.epoch,
        preferred_successors=[key.id for key in state.successors],
        preferred_candidates=[
            end.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id)
            for key in state.successors
        ],
    )
    return EndQuorumEpochRequest(
        cluster_id=quorum.config.cluster_id,
        topics=[end.EndQuorumEpochRequestTopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[
            end.LeaderEndpoint(name=name, host=host, port=port)
            for name, host, port in quorum.config.endpoints
        ],
    )


def take_begin_quorum_epoch_response(
    quorum: Quorum, response: BeginQuorumEpochResponse, *, now_ms: int
) -> Handled:
    return _take_answer(quorum, response, now_ms=now_ms) or Handled.DONE


def take_end_quorum_epoch_response(
    quorum: Quorum, voter_id: int, response: EndQuorumEpochResponse, *, now_ms: int
) -> Handled:
    handled = _take_answer(quorum, response, now_ms=now_ms)
    if handled is None and isinstance(quorum.state, Resigned):
        quorum.state.unacknowledged.discard(voter_id)
    return handled or Handled.DONE


def _take_answer(
    quorum: Quorum, response: BeginQuorumEpochResponse | EndQuorumEpochResponse, *, now_ms: int
) -> Handled | None:
    """Handles the leader, epoch and error of the response; None if it is accepted."""
    answer = only_partition(
        [(t.topic_name, p.partition_index, p) for t in response.topics for p in t.partitions]
    )
    if response.error_code != ErrorCode.NONE or answer is None:
        return Handled.FAILED
    endpoint = leader_endpoint(quorum, answer.leader_id, response.node_endpoints)
    view = LeaderView.from_message(answer.leader_id, epoch=answer.leader_epoch, endpoint=endpoint)
    return take_response(quorum, error_of(answer.error_code), view, now_ms=now_ms)
