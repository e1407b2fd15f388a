"""Elections: requesting and granting votes (Vote, with pre-votes since KIP-996).

Errors in a response: INCONSISTENT_CLUSTER_ID and INVALID_REQUEST at the top level; INVALID_REQUEST,
FENCED_LEADER_EPOCH and INVALID_VOTER_KEY for the partition.
"""

from __future__ import annotations

from ottla.model import ErrorCode
from ottla.raft.election import Ballot
from ottla.raft.leader_updates import Handled, error_of, take_response
from ottla.raft.log import OffsetAndEpoch
from ottla.raft.messages import PARTITION, TOPIC, LeaderView, only_partition
from ottla.raft.quorum import Quorum
from ottla.raft.responses import vote_response
from ottla.raft.states import Candidate, Follower, Leader, Prospective, Unattached
from ottla.raft.validation import (
    has_other_cluster_id,
    is_for_other_replica,
    leader_endpoint,
    voter_request_error,
)
from ottla.raft.voters import ReplicaKey
from ottla.wire.messages.vote import (
    VoteRequest,
    VoteRequestPartitionData,
    VoteRequestTopicData,
    VoteResponse,
)

# ---- requests of other replicas


def receive_vote(quorum: Quorum, request: VoteRequest, *, now_ms: int) -> VoteResponse:
    """Any replica votes, even if it is not in its own voter set: it may not have replicated the
    record yet that makes it a voter (KIP-853)."""
    if has_other_cluster_id(quorum, request.cluster_id):
        return VoteResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
    requested = only_partition(
        [(t.topic_name, p.partition_index, p) for t in request.topics for p in t.partitions]
    )
    if requested is None:
        return VoteResponse(error_code=ErrorCode.INVALID_REQUEST)
    end = OffsetAndEpoch(requested.last_offset, requested.last_offset_epoch)
    if min(end) < 0 or end.epoch > requested.replica_epoch - (not requested.pre_vote):
        return vote_response(quorum.leader, ErrorCode.INVALID_REQUEST)
    error = voter_request_error(quorum, requested.replica_id, epoch=requested.replica_epoch)
    if error is not ErrorCode.NONE:
        return vote_response(quorum.leader, error)
    if requested.replica_epoch > quorum.epoch:
        quorum.become_unattached(requested.replica_epoch, now_ms=now_ms)
    if is_for_other_replica(quorum, request.voter_id, requested.voter_directory_id):
        return vote_response(quorum.leader, ErrorCode.INVALID_VOTER_KEY)

    nominee = ReplicaKey(requested.replica_id, requested.replica_directory_id)
    is_up_to_date = end.is_up_to_date_with(quorum.log.end)
    if requested.pre_vote:
        is_granted = is_up_to_date and _would_vote(quorum, now_ms=now_ms)
    else:
        is_granted = _can_vote(quorum, nominee, is_up_to_date=is_up_to_date)
        if is_granted and quorum.vote_in(quorum.epoch) is None:
            quorum.become_voted(nominee, now_ms=now_ms)
    return vote_response(quorum.leader, ErrorCode.NONE, is_granted=is_granted)


def _would_vote(quorum: Quorum, *, now_ms: int) -> bool:
    """Whether to grant a pre-vote, which is not binding. A follower that has fetched from its
    leader refuses, so that it does not help to depose a live leader. A follower that shuts down
    stays a follower when its leader fails, so it grants pre-votes after the fetch timeout."""
    state = quorum.state
    if isinstance(state, Follower):
        has_given_up = quorum.is_shutting_down and now_ms >= state.fetch_deadline_ms
        return has_given_up or not state.has_fetched
    return not isinstance(state, Leader)


def _can_vote(quorum: Quorum, nominee: ReplicaKey, *, is_up_to_date: bool) -> bool:
    """The same candidate may request the vote twice: the first response can have been lost."""
    state = quorum.state
    if not isinstance(state, Unattached | Prospective):
        return False
    if state.voted is not None:
        return state.voted.admits(nominee)
    return state.leader_id is None and is_up_to_date


# ---- own elections


def poll_prospective(quorum: Quorum, state: Prospective, *, now_ms: int) -> None:
    """If the election is lost, follows the previous leader again, or becomes unattached if there is
    none."""
    has_ended = state.election.is_lost or now_ms >= state.election_deadline_ms
    if state.election.is_won and not quorum.is_shutting_down:
        quorum.become_candidate(now_ms=now_ms)
    elif has_ended or quorum.is_shutting_down:
        leader = quorum.leader
        if leader.endpoint is not None:
            quorum.become_follower(leader, now_ms=now_ms)
        else:
            quorum.become_unattached(state.epoch, leader_id=state.leader_id, now_ms=now_ms)
    else:
        _send_vote_requests(quorum, state, now_ms=now_ms)


def poll_candidate(quorum: Quorum, state: Candidate, *, now_ms: int) -> None:
    """A candidate that lost waits for its randomized election timeout. One that shuts down becomes
    unattached and keeps the vote for itself."""
    if quorum.is_shutting_down:
        quorum.become_unattached(state.epoch, now_ms=now_ms)
    elif state.election.is_won:
        quorum.become_leader(now_ms=now_ms)
    elif now_ms >= state.election_deadline_ms:
        quorum.become_prospective(now_ms=now_ms)
    elif not state.election.is_lost:
        _send_vote_requests(quorum, state, now_ms=now_ms)


def _send_vote_requests(quorum: Quorum, state: Prospective | Candidate, *, now_ms: int) -> None:
    """Sends only after the log is flushed: a leader that crashes must still have the log that it
    was elected for, since voters do not compare logs again."""
    if not quorum.is_flushed:
        return
    end = quorum.log.end
    for voter in state.election.unrecorded_voters:
        destination = quorum.destination(voter.id)
        if destination is None or not quorum.connections.is_ready(voter.id):
            continue
        partition = VoteRequestPartitionData(
            partition_index=PARTITION,
            replica_epoch=state.epoch,
            replica_id=quorum.local.id,
            replica_directory_id=quorum.local.directory_id,
            voter_directory_id=voter.directory_id,
            last_offset_epoch=end.epoch,
            last_offset=end.offset,
            pre_vote=isinstance(state, Prospective),
        )
        topic = VoteRequestTopicData(topic_name=TOPIC, partitions=[partition])
        request = VoteRequest(
            cluster_id=quorum.config.cluster_id, voter_id=voter.id, topics=[topic]
        )
        quorum.send(destination, request, now_ms=now_ms)


def take_vote_response(
    quorum: Quorum, voter_id: int, response: VoteResponse, *, now_ms: int
) -> Handled:
    answer = only_partition(
        [(t.topic_name, p.partition_index, p) for t in response.topics for p in t.partitions]
    )
    if response.error_code != ErrorCode.NONE or answer is None:
        return Handled.FAILED
    endpoint = leader_endpoint(quorum, answer.leader_id, response.node_endpoints)
    view = LeaderView.from_message(answer.leader_id, epoch=answer.leader_epoch, endpoint=endpoint)
    handled = take_response(quorum, error_of(answer.error_code), view, now_ms=now_ms)
    if handled is not None:
        return handled
    if isinstance(quorum.state, Prospective | Candidate):
        ballot = Ballot.GRANTED if answer.vote_granted else Ballot.REJECTED
        quorum.state.election.record(voter_id, ballot)
    return Handled.DONE
