"""Updates of a voter whose endpoints or supported versions differ from the log (UpdateRaftVoter).

Errors in a response: INCONSISTENT_CLUSTER_ID, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH,
NOT_LEADER_OR_FOLLOWER, INVALID_REQUEST, REQUEST_TIMED_OUT (if something else has to be committed
first), UNSUPPORTED_VERSION, VOTER_NOT_FOUND.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID, ErrorCode, KafkaError
from ottla.raft.decisions import Destination
from ottla.raft.leader_updates import Handled, error_of, take_response
from ottla.raft.messages import LeaderView
from ottla.raft.quorum import Quorum
from ottla.raft.responses import update_voter_response
from ottla.raft.states import Follower, Leader
from ottla.raft.validation import has_other_cluster_id, leader_request_error, listener_endpoint
from ottla.raft.voter_changes import append_voters, maybe_expire_change, require_settled
from ottla.raft.voters import KRaftVersions, ReplicaKey, Voter, VoterEndpoint
from ottla.wire.messages.update_raft_voter import (
    KRaftVersionFeature,
    Listener,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)


def receive_update_voter(
    quorum: Quorum, request: UpdateRaftVoterRequest, *, now_ms: int
) -> UpdateRaftVoterResponse:
    """Responds before the update is committed: if it is lost, the voter sends it again."""
    error = _update_voter(quorum, request, now_ms=now_ms)
    return update_voter_response(quorum.leader, error)


def _update_voter(quorum: Quorum, request: UpdateRaftVoterRequest, *, now_ms: int) -> ErrorCode:
    if has_other_cluster_id(quorum, request.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    error = leader_request_error(quorum, epoch=request.current_leader_epoch)
    if error is not ErrorCode.NONE:
        return error
    feature = request.kraft_version_feature
    supported = KRaftVersions(feature.min_supported_version, feature.max_supported_version)
    if (
        request.voter_id < 0
        or request.voter_directory_id == ZERO_UUID
        or listener_endpoint(quorum, request.listeners) is None
        or not 0 <= supported.lowest <= supported.highest
    ):
        return ErrorCode.INVALID_REQUEST
    leader = quorum.state
    assert isinstance(leader, Leader)
    maybe_expire_change(quorum, leader, now_ms=now_ms)
    try:
        require_settled(quorum, leader)
    except KafkaError as refusal:
        return refusal.code
    if quorum.history.kraft_version == 0:
        return ErrorCode.UNSUPPORTED_VERSION
    if not supported.include(quorum.history.kraft_version):
        return ErrorCode.INVALID_REQUEST
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    endpoints = tuple(VoterEndpoint(each.name, each.host, each.port) for each in request.listeners)
    voters = quorum.voters.updated(Voter(key, endpoints, supported))
    if voters is None:
        return ErrorCode.VOTER_NOT_FOUND
    append_voters(quorum, voters)
    return ErrorCode.NONE


def maybe_update_voter(
    quorum: Quorum, state: Follower, leader: Destination, *, now_ms: int
) -> bool:
    """Sends this voter's current endpoints and versions to the leader instead of a fetch, if they
    differ from the log; returns whether it did."""
    local = quorum.config.local_voter
    is_outdated = quorum.history.kraft_version > 0 and quorum.voters.needs_update(local)
    if not is_outdated or now_ms < state.update_voter_ms:
        return False
    state.update_voter_ms = now_ms + quorum.config.fetch_timeout_ms
    request = UpdateRaftVoterRequest(
        cluster_id=quorum.config.cluster_id,
        current_leader_epoch=state.epoch,
        voter_id=local.key.id,
        voter_directory_id=local.key.directory_id,
        listeners=[
            Listener(name=name, host=host, port=port) for name, host, port in local.endpoints
        ],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=local.kraft_versions.lowest,
            max_supported_version=local.kraft_versions.highest,
        ),
    )
    quorum.send(leader, request, now_ms=now_ms)
    return True


def take_update_voter_response(
    quorum: Quorum, response: UpdateRaftVoterResponse, *, now_ms: int
) -> Handled:
    leader = response.current_leader
    if leader is None:
        return Handled.FAILED
    endpoint = None
    if leader.host:
        endpoint = VoterEndpoint(quorum.config.listener_name, leader.host, leader.port)
    view = LeaderView.from_message(leader.leader_id, epoch=leader.leader_epoch, endpoint=endpoint)
    handled = take_response(quorum, error_of(response.error_code), view, now_ms=now_ms)
    return handled or Handled.DONE
