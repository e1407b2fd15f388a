import pytest

from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.raft.states import Resigned
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.wire.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.wire.messages.update_raft_voter import (
    KRaftVersionFeature,
    UpdateRaftVoterRequest,
)
from ottla.wire.messages.update_raft_voter import Listener as UpdatedListener
from tests.support.raft.raft_peer import Peer, fetch_request
from tests.support.raft.raft_replica import CLUSTER_ID, directory_id, voter_set


def leader(*, is_committed: bool = True) -> Peer:
    """Of three voters, with 4 observing."""
    peer = Peer()
    peer.become_leader()
    if is_committed:
        peer.send_request(fetch_request(2, 1, 3, 1, wait_ms=0))
        peer.send_request(fetch_request(3, 1, 3, 1, wait_ms=0))
        peer.send_request(fetch_request(4, 1, 3, 1, wait_ms=0))
    return peer


def add(
    node_id: int = 4,
    *,
    directory: Uuid | None = None,
    listener: str = "CONTROLLER",
    is_acked_when_committed: bool = True,
    cluster_id: str = CLUSTER_ID,
) -> AddRaftVoterRequest:
    return AddRaftVoterRequest(
        cluster_id=cluster_id,
        voter_id=node_id,
        voter_directory_id=directory_id(node_id) if directory is None else directory,
        listeners=[Listener(name=listener, host=f"n{node_id}", port=9000 + node_id)],
        ack_when_committed=is_acked_when_committed,
    )


def remove(node_id: int, *, directory: Uuid | None = None) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        voter_id=node_id,
        voter_directory_id=directory_id(node_id) if directory is None else directory,
    )


def update(node_id: int, *, epoch: int = 1, port: int = 9999) -> UpdateRaftVoterRequest:
    return UpdateRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        current_leader_epoch=epoch,
        voter_id=node_id,
        voter_directory_id=directory_id(node_id),
        listeners=[UpdatedListener(name="CONTROLLER", host="elsewhere", port=port)],
        kraft_version_feature=KRaftVersionFeature(max_supported_version=1),
    )


def api_versions(highest: int = 1) -> ApiVersionsResponse:
    kraft = SupportedFeatureKey(name="kraft.version", min_version=0, max_version=highest)
    return ApiVersionsResponse(supported_features=[kraft])


def start_adding(peer: Peer, request: AddRaftVoterRequest, answer: ApiVersionsResponse) -> int:
    number = peer.replica.request(request, peer.now_ms)
    [packet] = peer.requests(ApiVersionsRequest)
    assert packet.target == 4
    peer.respond(packet, answer)
    return number


def error_of(peer: Peer, number: int) -> int:
    answer = peer.replica.answers[number]
    return answer.error_code  # type: ignore[attr-defined,no-any-return]


def test_voter_counts_when_appended_and_is_announced_when_committed() -> None:
    peer = leader()
    number = start_adding(peer, add(), api_versions())
    assert peer.raft.voters == voter_set(1, 2, 3, 4)
    peer.send_request(fetch_request(2, 1, 4, 1, wait_ms=0))
    assert number not in peer.replica.answers, "two of four are no majority"
    peer.send_request(fetch_request(4, 1, 4, 1, wait_ms=0))
    assert error_of(peer, number) == ErrorCode.NONE


def test_voter_is_announced_at_once_if_requested() -> None:
    peer = leader()
    number = start_adding(peer, add(is_acked_when_committed=False), api_versions())
    assert error_of(peer, number) == ErrorCode.NONE
    assert peer.send_request(remove(2)).error_code == ErrorCode.REQUEST_TIMED_OUT, "one at a time"


def test_voter_that_cannot_speak_the_version_is_not_added() -> None:
    peer = leader()
    number = start_adding(peer, add(), api_versions(highest=0))
    assert error_of(peer, number) == ErrorCode.INVALID_REQUEST
    assert peer.raft.voters == voter_set(1, 2, 3)


def test_voter_that_has_not_caught_up_is_not_added() -> None:
    peer = leader()
    peer.send_request(fetch_request(2, 1, 3, 1, wait_ms=0))
    number = start_adding(peer, add(directory=directory_id(9)), api_versions())
    assert error_of(peer, number) == ErrorCode.REQUEST_TIMED_OUT
    assert peer.raft.voters == voter_set(1, 2, 3)


def test_voter_that_cannot_be_reached_is_not_added() -> None:
    peer = leader()
    number = peer.replica.request(add(), peer.now_ms)
    [packet] = peer.requests(ApiVersionsRequest)
    peer.replica.fail(packet.number, peer.now_ms)
    assert error_of(peer, number) == ErrorCode.REQUEST_TIMED_OUT
    assert peer.send_request(add()).error_code == ErrorCode.REQUEST_TIMED_OUT


def test_change_that_does_not_commit_times_out() -> None:
    peer = leader()
    number = peer.replica.request(remove(3), peer.now_ms)
    peer.wait(2000)
    assert error_of(peer, number) == ErrorCode.REQUEST_TIMED_OUT
    assert peer.send_request(remove(2)).error_code == ErrorCode.REQUEST_TIMED_OUT, (
        "still not committed"
    )


def test_change_under_a_deposed_leader_is_refused() -> None:
    peer = leader()
    number = peer.replica.request(remove(3), peer.now_ms)
    peer.follow(2, 2)
    assert error_of(peer, number) == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (add(3), ErrorCode.DUPLICATE_VOTER),
        (add(directory=ZERO_UUID), ErrorCode.INVALID_REQUEST),
        (add(listener="PLAINTEXT"), ErrorCode.INVALID_REQUEST),
        (add(cluster_id="other"), ErrorCode.INCONSISTENT_CLUSTER_ID),
        (remove(7), ErrorCode.VOTER_NOT_FOUND),
        (remove(3, directory=directory_id(9)), ErrorCode.VOTER_NOT_FOUND),
        (remove(3, directory=ZERO_UUID), ErrorCode.INVALID_REQUEST),
    ],
)
def test_change_that_makes_no_sense_is_refused(
    request_: AddRaftVoterRequest | RemoveRaftVoterRequest, error: ErrorCode
) -> None:
    answer = leader().send_request(request_)
    assert answer.error_code == error
    assert answer.error_message


def test_voters_do_not_change_before_the_leader_has_committed() -> None:
    assert (
        leader(is_committed=False).send_request(remove(3)).error_code == ErrorCode.REQUEST_TIMED_OUT
    )


def test_only_the_leader_changes_voters() -> None:
    assert Peer().send_request(remove(3)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_leader_that_removed_itself_resigns_once_that_is_committed() -> None:
    peer = leader()
    number = peer.replica.request(remove(1), peer.now_ms)
    peer.send_request(fetch_request(2, 1, 4, 1, wait_ms=0))
    assert peer.raft.is_leader
    peer.send_request(fetch_request(3, 1, 4, 1, wait_ms=0))
    assert error_of(peer, number) == ErrorCode.NONE
    assert peer.state() is Resigned


def test_voter_changes_its_endpoint() -> None:
    peer = leader()
    assert peer.send_request(update(2)).error_code == ErrorCode.NONE
    moved = peer.raft.voters.get(2)
    assert moved is not None
    assert moved.endpoints == (("CONTROLLER", "elsewhere", 9999),)
    assert peer.send_request(update(3)).error_code == ErrorCode.REQUEST_TIMED_OUT, (
        "not committed yet"
    )


def test_update_that_makes_no_sense_is_refused() -> None:
    assert leader().send_request(update(7)).error_code == ErrorCode.VOTER_NOT_FOUND
    assert leader().send_request(update(2, epoch=0)).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert leader().send_request(update(2, epoch=2)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert (
        leader()
        .send_request(UpdateRaftVoterRequest(cluster_id=None, current_leader_epoch=1))
        .error_code
    )
