"""Adding and removing voters at run time (AddRaftVoter, RemoveRaftVoter).

One voter at a time, and only after the previous change and a record of this epoch are committed:
then every majority of the old set shares a voter with every majority of the new one (KIP-853). A
new voter must be caught up, otherwise the high watermark would wait for it, and must support the
quorum's kraft.version, which the leader checks with ApiVersions.

Errors in a response: INCONSISTENT_CLUSTER_ID, NOT_LEADER_OR_FOLLOWER, INVALID_REQUEST,
REQUEST_TIMED_OUT (also if something else has to be committed first), UNSUPPORTED_VERSION,
DUPLICATE_VOTER, VOTER_NOT_FOUND.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID, ErrorCode, KafkaError
from ottla.raft.decisions import Destination, Reply
from ottla.raft.leader_updates import Handled, error_of
from ottla.raft.quorum import Quorum
from ottla.raft.responses import VoterChangeRequest, voter_change_response
from ottla.raft.states import Leader, VoterChange
from ottla.raft.validation import has_other_cluster_id, listener_endpoint
from ottla.raft.voters import KRaftVersions, ReplicaKey, Voter, VoterEndpoint, VoterSet
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest

KRAFT_VERSION_FEATURE = "kraft.version"

# ---- adding and removing


def receive_add_voter(
    quorum: Quorum, number: int, request: AddRaftVoterRequest, *, now_ms: int
) -> None:
    try:
        leader = _require_leader(quorum, request, now_ms=now_ms)
        endpoint = listener_endpoint(quorum, request.listeners)
        if endpoint is None:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"the new voter has no listener {quorum.config.listener_name}: name one",
            )
        if quorum.voters.get(request.voter_id) is not None:
            raise KafkaError(
                ErrorCode.DUPLICATE_VOTER,
                f"{request.voter_id} is a voter already: remove it before another directory of it "
                "is added",
            )
        if not quorum.connections.is_ready(request.voter_id):
            raise KafkaError(
                ErrorCode.REQUEST_TIMED_OUT, "the new voter did not answer just now: try again"
            )
    except KafkaError as error:
        _refuse(quorum, number, request, error)
        return
    destination = Destination(request.voter_id, endpoint.host, endpoint.port)
    leader.change = VoterChange(number, request, now_ms + quorum.config.request_timeout_ms)
    # Nodes reject ApiVersions requests without a client name and version.
    hello = ApiVersionsRequest(client_software_name="ottla", client_software_version="0")
    quorum.send(destination, hello, now_ms=now_ms)


def take_api_versions_response(
    quorum: Quorum, voter_id: int, response: ApiVersionsResponse, *, now_ms: int
) -> Handled:
    """Appends the voter set with the new voter, or ends the change with an error."""
    leader = quorum.state
    change = leader.change if isinstance(leader, Leader) else None
    if change is None or change.offset is not None or change.request.voter_id != voter_id:
        return Handled.DONE
    assert isinstance(leader, Leader)
    request = change.request
    assert isinstance(request, AddRaftVoterRequest)
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    supported = KRaftVersions()
    for feature in response.supported_features:
        if feature.name == KRAFT_VERSION_FEATURE:
            supported = KRaftVersions(feature.min_version, feature.max_version)
    if response.error_code != ErrorCode.NONE:
        error = error_of(response.error_code)
        finish_change(
            quorum, leader, ErrorCode.REQUEST_TIMED_OUT, f"the new voter responded with {error!r}"
        )
    elif not supported.include(quorum.history.kraft_version):
        finish_change(
            quorum,
            leader,
            ErrorCode.INVALID_REQUEST,
            f"the new voter supports {KRAFT_VERSION_FEATURE} {supported.lowest} to "
            f"{supported.highest}, but the quorum uses {quorum.history.kraft_version}: upgrade "
            "the new voter",
        )
    elif not leader.progress.is_caught_up(key, now_ms=now_ms):
        finish_change(
            quorum,
            leader,
            ErrorCode.REQUEST_TIMED_OUT,
            f"{key.id} has not fetched all of the log yet: start it, and try again later",
        )
    else:
        endpoints = tuple(
            VoterEndpoint(each.name, each.host, each.port) for each in request.listeners
        )
        voters = quorum.voters.added(Voter(key, endpoints, supported))
        assert voters is not None, "the voters do not change while a change is under way"
        append_voters(quorum, voters)
        if not request.ack_when_committed:
            change.is_answered = True
            quorum.reply(Reply(change.number, voter_change_response(request, ErrorCode.NONE)))
    return Handled.DONE


def fail_api_versions(quorum: Quorum) -> None:
    """The new voter is unreachable: ends the change with an error."""
    leader = quorum.state
    if isinstance(leader, Leader) and leader.change is not None and leader.change.offset is None:
        message = (
            "the new voter cannot be reached: start it, and check that its listener is correct"
        )
        finish_change(quorum, leader, ErrorCode.REQUEST_TIMED_OUT, message)


def receive_remove_voter(
    quorum: Quorum, number: int, request: RemoveRaftVoterRequest, *, now_ms: int
) -> None:
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    try:
        leader = _require_leader(quorum, request, now_ms=now_ms)
        voters = quorum.voters.removed(key)
        if voters is None:
            raise KafkaError(
                ErrorCode.VOTER_NOT_FOUND,
                f"{key.id} with this directory id is not a voter, or is the only voter",
            )
    except KafkaError as error:
        _refuse(quorum, number, request, error)
        return
    leader.change = VoterChange(number, request, now_ms + quorum.config.request_timeout_ms)
    append_voters(quorum, voters)


def _require_leader(quorum: Quorum, request: VoterChangeRequest, *, now_ms: int) -> Leader:
    if has_other_cluster_id(quorum, request.cluster_id):
        ours = quorum.config.cluster_id
        raise KafkaError(
            ErrorCode.INCONSISTENT_CLUSTER_ID, f"the cluster id of this node is {ours}"
        )
    leader = quorum.state
    if not isinstance(leader, Leader):
        raise KafkaError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            "this node is not the leader of the quorum: send the request to the leader",
        )
    if request.voter_id < 0 or request.voter_directory_id == ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "a voter has an id and a directory: name both")
    maybe_expire_change(quorum, leader, now_ms=now_ms)
    require_settled(quorum, leader)
    if quorum.history.kraft_version == 0:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"voters change at run time from {KRAFT_VERSION_FEATURE} 1 on: upgrade that feature",
        )
    return leader


def require_settled(quorum: Quorum, leader: Leader) -> None:
    high_watermark, offset = leader.progress.high_watermark, quorum.history.voters_offset
    if leader.change is not None:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, "another change is under way: try again")
    if high_watermark is None:
        raise KafkaError(
            ErrorCode.REQUEST_TIMED_OUT, "the leader has not committed in its epoch: try again"
        )
    if offset is not None and offset >= high_watermark:
        raise KafkaError(
            ErrorCode.REQUEST_TIMED_OUT, "the last change of voters is not committed: try again"
        )


def append_voters(quorum: Quorum, voters: VoterSet) -> None:
    assert quorum.voters.overlaps(voters)
    quorum.decisions.append_control.append(voters.to_record())


def _refuse(quorum: Quorum, number: int, request: VoterChangeRequest, error: KafkaError) -> None:
    _, _, message = str(error).partition(": ")
    quorum.reply(Reply(number, voter_change_response(request, error.code, message)))


# ---- a change under way


def voters_appended(quorum: Quorum, leader: Leader) -> None:
    """The new set is in effect from now on. No other set is appended while a change is under
    way."""
    leader.progress.set_voters(quorum.voters)
    if leader.change is not None:
        leader.change.offset = quorum.history.voters_offset


def high_watermark_advanced(quorum: Quorum, leader: Leader) -> None:
    """Completes a change that is committed; a leader that it removed resigns."""
    high_watermark, offset = leader.progress.high_watermark, quorum.history.voters_offset
    assert high_watermark is not None
    change = leader.change
    if change is not None and change.offset is not None and change.offset < high_watermark:
        finish_change(quorum, leader, ErrorCode.NONE)
    if not quorum.is_voter and offset is not None and offset < high_watermark:
        leader.is_to_resign = True


def maybe_expire_change(quorum: Quorum, leader: Leader, *, now_ms: int) -> None:
    """Ends only the request: a voter set that was appended stays and may still be committed."""
    if leader.change is not None and now_ms >= leader.change.deadline_ms:
        finish_change(quorum, leader, ErrorCode.REQUEST_TIMED_OUT)


def finish_change(
    quorum: Quorum, leader: Leader, error: ErrorCode, message: str | None = None
) -> None:
    change = leader.change
    assert change is not None
    leader.change = None
    if not change.is_answered:
        response = voter_change_response(change.request, error, message)
        quorum.reply(Reply(change.number, response))
