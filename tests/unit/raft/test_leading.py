"""The leader: fetches answered, records committed, the end of an epoch."""

import pytest

from ottla.model import ErrorCode
from ottla.raft.states import Follower, Prospective, Resigned
from ottla.wire.messages.begin_quorum_epoch import BeginQuorumEpochRequest
from ottla.wire.messages.end_quorum_epoch import EndQuorumEpochRequest
from ottla.wire.messages.fetch import FetchRequest
from ottla.wire.messages.fetch_snapshot import FetchSnapshotRequest
from tests.support.raft.raft_log import decode
from tests.support.raft.raft_peer import (
    Peer,
    begin_request,
    end_request,
    fetch_request,
    partition_of,
    snapshot_request,
)
from tests.support.raft.raft_replica import directory_id, voter_set


def leader(**settings: object) -> Peer:
    """Of epoch 1, with the three records that open it."""
    peer = Peer(**settings)  # type: ignore[arg-type]
    peer.become_leader()
    peer.sent.clear()
    return peer


def test_fetch_is_answered_with_what_follows() -> None:
    peer = leader()
    peer.replica.append("a", "b")
    answer = peer.send_request(fetch_request(2, 1, 3, 1))
    assert [str(entry) for entry in decode(answer.records)] == ["a", "b"]
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (1, 1)


def test_fetch_at_the_end_waits_for_records() -> None:
    peer = leader()
    number = peer.replica.request(fetch_request(2, 1, 3, 1), peer.now_ms)
    assert number not in peer.replica.answers
    peer.replica.append("a")
    answer = partition_of(peer.replica.answers[number])
    assert [str(entry) for entry in decode(answer.records)] == ["a"]


def test_fetch_at_the_end_does_not_wait_longer_than_it_would() -> None:
    peer = leader()
    number = peer.replica.request(fetch_request(2, 1, 3, 1, wait_ms=500), peer.now_ms)
    assert peer.raft.next_deadline_ms == peer.now_ms + 500
    peer.wait(500)
    assert partition_of(peer.replica.answers[number]).records == b""
    assert peer.send_request(fetch_request(2, 1, 3, 1, wait_ms=0)).records == b""


def test_follower_learns_the_high_watermark_at_once() -> None:
    peer = leader()
    answer = peer.send_request(fetch_request(2, 1, 3, 1, high_watermark=-1))
    assert answer.high_watermark == 3
    assert peer.send_request(fetch_request(2, 1, 3, 1, high_watermark=3)) is None


def test_fetch_of_a_deposed_leader_is_refused_not_forgotten() -> None:
    peer = leader()
    number = peer.replica.request(fetch_request(2, 1, 3, 1), peer.now_ms)
    peer.follow(3, 2)
    answer = partition_of(peer.replica.answers[number])
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert answer.current_leader.leader_id == 3


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (fetch_request(2, 0, 3, 0), ErrorCode.FENCED_LEADER_EPOCH),
        (fetch_request(2, 2, 3, 1), ErrorCode.UNKNOWN_LEADER_EPOCH),
        (fetch_request(2, 1, -1, 1), ErrorCode.INVALID_REQUEST),
        (fetch_request(2, 1, 3, -1), ErrorCode.INVALID_REQUEST),
        (fetch_request(2, 1, 3, 2), ErrorCode.INVALID_REQUEST),
        (fetch_request(2, 1, 3, 1, wait_ms=-1), ErrorCode.INVALID_REQUEST),
        (fetch_request(1, 1, 3, 1), ErrorCode.INVALID_REQUEST),
        (fetch_request(2, 1, 3, 1, cluster_id="other"), ErrorCode.INCONSISTENT_CLUSTER_ID),
        (FetchRequest(), ErrorCode.INVALID_REQUEST),
    ],
)
def test_fetch_that_cannot_be_served_is_refused(request_: FetchRequest, error: ErrorCode) -> None:
    assert leader().send_request(request_).error_code == error


def test_replica_that_does_not_lead_says_who_does() -> None:
    peer = Peer()
    peer.follow(2, 1)
    answer = peer.send_request(fetch_request(3, 1, 0, 0))
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert answer.current_leader.leader_id == 2


def test_response_to_a_diverging_fetch_has_the_end_of_its_epoch_and_commits_nothing() -> None:
    peer = leader()
    answer = peer.send_request(fetch_request(2, 1, 7, 0))
    assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset) == (0, 0)
    assert peer.raft.high_watermark is None


def test_replica_with_the_id_of_a_voter_and_another_disk_commits_nothing() -> None:
    peer = leader()
    request = fetch_request(2, 1, 3, 1)
    request.topics[0].partitions[0].replica_directory_id = directory_id(9)
    peer.send_request(request)
    assert peer.raft.high_watermark is None
    peer.send_request(fetch_request(2, 1, 3, 1))
    assert peer.raft.high_watermark == 3


def test_quorum_is_described_by_the_leader_only() -> None:
    peer = leader()
    peer.send_request(fetch_request(2, 1, 3, 1))
    peer.send_request(fetch_request(9, 1, 0, 0))
    described = peer.raft.describe(now_ms=peer.now_ms)
    assert described is not None
    assert (described.leader_id, described.epoch, described.high_watermark) == (1, 1, 3)
    assert [(each.key.id, each.end_offset) for each in described.replicas] == [
        (1, 3),
        (2, 3),
        (3, None),
    ]
    assert [(each.key.id, each.end_offset) for each in described.observers] == [(9, 0)]
    assert described.replicas[1].last_caught_up_ms == peer.now_ms
    assert Peer().raft.describe(now_ms=0) is None


# ---- the beginning and the end of an epoch


def test_leader_makes_itself_known_to_voters_that_do_not_fetch() -> None:
    peer = Peer()
    peer.become_leader()
    assert [each.target for each in peer.requests(BeginQuorumEpochRequest)] == [2, 3]
    peer.wait(600)
    peer.send_request(fetch_request(2, 1, 3, 1))
    peer.wait(400)
    assert peer.requests(BeginQuorumEpochRequest) == []
    peer.wait(1600)
    peer.wait(20)
    assert 3 in [each.target for each in peer.requests(BeginQuorumEpochRequest)]


def test_leader_resigns_without_a_majority() -> None:
    peer = leader()
    peer.wait(2000)
    peer.send_request(fetch_request(3, 1, 3, 1, wait_ms=0))
    peer.wait(2999)
    assert peer.raft.is_leader
    peer.wait(1)
    assert peer.state() is Resigned
    assert peer.replica.leaders[-1] == (None, 1)


def test_only_voter_never_resigns() -> None:
    peer = Peer(voter_set(1))
    peer.wait(1_000_000)
    assert peer.raft.is_leader


def test_resigned_leader_names_successors_and_goes_on_in_the_next_epoch() -> None:
    peer = leader()
    peer.send_request(fetch_request(3, 1, 3, 1, wait_ms=0))
    peer.replica.resign(peer.now_ms)
    requests = peer.requests(EndQuorumEpochRequest)
    assert [each.target for each in requests] == [2, 3]
    successors = partition_of(requests[0].message).preferred_candidates
    assert [each.candidate_id for each in successors] == [3, 2]
    peer.wait(1000)
    assert peer.state() is Prospective
    assert peer.raft.leader_and_epoch == (None, 2)


@pytest.mark.parametrize(
    ("successors", "backoff_ms"),
    [((1, 3), 0), ((3, 1), 500), ((3, 4, 5, 1), 500), ((3, 4, 1, 5), 250), ((3,), 1000)],
)
def test_follower_of_a_resigned_leader_waits_for_its_turn(
    successors: tuple[int, ...], backoff_ms: int
) -> None:
    peer = Peer()
    peer.follow(2, 1)
    if backoff_ms:
        peer.send_request(end_request(2, 1, *successors))
        peer.wait(backoff_ms - 1)
        assert peer.state() is Follower
        peer.wait(1)
    else:
        peer.send_request(end_request(2, 1, *successors))
    assert peer.state() is Prospective


def test_second_leader_of_an_epoch_is_rejected() -> None:
    peer = Peer()
    peer.follow(2, 1)
    assert peer.send_request(begin_request(3, 1)).error_code == ErrorCode.INVALID_REQUEST
    assert peer.raft.leader_and_epoch == (2, 1)


def test_leader_of_a_past_epoch_is_fenced() -> None:
    peer = Peer()
    peer.follow(2, 4)
    assert peer.send_request(begin_request(3, 3)).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert peer.send_request(end_request(3, 3)).error_code == ErrorCode.FENCED_LEADER_EPOCH


# ---- snapshots


def test_snapshot_is_served_in_pieces() -> None:
    peer = leader()
    peer.replica.append("a")
    peer.send_request(fetch_request(2, 1, 4, 1, wait_ms=0))
    peer.replica.snapshot(4)
    answer = peer.send_request(fetch_request(3, 1, 2, 1))
    assert (answer.snapshot_id.end_offset, answer.snapshot_id.epoch) == (4, 1)
    request = snapshot_request(3, 1, (4, 1), position=10)
    request.max_bytes = 7
    piece = peer.send_request(request)
    whole = peer.log.snapshots[peer.log.start].encode()
    assert (piece.position, piece.size) == (10, len(whole))
    assert piece.unaligned_records == whole[10:17]


@pytest.mark.parametrize(
    ("snapshot_id", "position", "epoch", "error"),
    [
        ((9, 1), 0, 1, ErrorCode.SNAPSHOT_NOT_FOUND),
        ((0, 0), 0, 1, ErrorCode.SNAPSHOT_NOT_FOUND),
        ((3, 1), -1, 1, ErrorCode.POSITION_OUT_OF_RANGE),
        ((3, 1), 1 << 20, 1, ErrorCode.POSITION_OUT_OF_RANGE),
        ((3, 1), 0, 0, ErrorCode.FENCED_LEADER_EPOCH),
        ((3, 1), 0, 2, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_snapshot_that_cannot_be_served_is_refused(
    snapshot_id: tuple[int, int], position: int, epoch: int, error: ErrorCode
) -> None:
    peer = leader()
    peer.send_request(fetch_request(2, 1, 3, 1, wait_ms=0))
    peer.replica.snapshot(3)
    request = snapshot_request(3, epoch, snapshot_id, position=position)
    assert peer.send_request(request).error_code == error
    assert peer.send_request(FetchSnapshotRequest()).error_code == ErrorCode.INVALID_REQUEST
