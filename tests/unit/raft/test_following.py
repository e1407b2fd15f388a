"""The follower: the leader found, records fetched, logs cut, snapshots downloaded."""

import pytest

from ottla.model import ErrorCode
from ottla.raft import BootstrapServer, CommittedRecordsLostError, VoterSet
from ottla.raft.states import Follower, Prospective, Unattached
from ottla.wire.messages.fetch import EpochEndOffset, FetchRequest, NodeEndpoint, SnapshotId
from ottla.wire.messages.fetch_snapshot import FetchSnapshotRequest
from ottla.wire.messages.update_raft_voter import UpdateRaftVoterRequest
from ottla.wire.stored.quorum import KRaftVersionRecord
from tests.support.raft.raft_log import Entry, StoredSnapshot, encode
from tests.support.raft.raft_peer import Peer, fetched, partition_of, snapshot_piece
from tests.support.raft.raft_replica import Packet, voter_set, with_endpoint


def follower(*epochs: int, **settings: object) -> Peer:
    """Of leader 2 in epoch 5."""
    peer = Peer(epochs=epochs, **settings)  # type: ignore[arg-type]
    peer.sent.clear()
    peer.follow(2, 5)
    return peer


def fetch_of(peer: Peer) -> Packet:
    [packet] = peer.requests(FetchRequest)
    return packet


def test_fetch_says_where_the_log_ends() -> None:
    packet = fetch_of(follower(1, 3))
    requested = partition_of(packet.message)
    assert packet.target == 2
    assert (
        requested.fetch_offset,
        requested.last_fetched_epoch,
        requested.current_leader_epoch,
    ) == (2, 3, 5)


def test_fetched_records_are_appended_and_fetched_on_from() -> None:
    peer = follower()
    records = encode([Entry(5, "a"), Entry(5, "b")])
    peer.respond(fetch_of(peer), fetched(2, 5, records=records, high_watermark=1))
    assert [str(entry) for entry in peer.log.entries] == ["a", "b"]
    assert peer.raft.high_watermark == 1
    assert partition_of(fetch_of(peer).message).fetch_offset == 2


def test_nothing_is_fetched_before_the_last_records_are_flushed() -> None:
    peer = follower(is_flushing_at_once=False)
    peer.respond(fetch_of(peer), fetched(2, 5, records=encode([Entry(5, "a")])))
    assert peer.requests(FetchRequest) == []
    peer.replica.flush()
    assert partition_of(fetch_of(peer).message).fetch_offset == 1


def test_high_watermark_is_not_beyond_the_log() -> None:
    peer = follower()
    records = encode([Entry(5, "a")])
    peer.respond(fetch_of(peer), fetched(2, 5, records=records, high_watermark=40))
    assert peer.raft.high_watermark == 1


def test_follower_cuts_its_log_where_the_leader_says_and_fetches_from_there() -> None:
    peer = follower(1, 1, 3, 3)
    diverging = EpochEndOffset(epoch=1, end_offset=2)
    peer.respond(fetch_of(peer), fetched(2, 5, diverging_epoch=diverging))
    assert len(peer.log.entries) == 2
    assert partition_of(fetch_of(peer).message).fetch_offset == 2


def test_follower_refuses_to_cut_what_was_committed() -> None:
    peer = follower(1, 1)
    peer.respond(fetch_of(peer), fetched(2, 5, high_watermark=2))
    with pytest.raises(CommittedRecordsLostError, match="restore the voters"):
        peer.respond(
            fetch_of(peer), fetched(2, 5, diverging_epoch=EpochEndOffset(epoch=0, end_offset=0))
        )


def test_follower_without_responses_gives_its_leader_up() -> None:
    peer = follower()
    peer.wait(1500)
    peer.respond(fetch_of(peer), fetched(2, 5))
    peer.wait(1999)
    assert peer.state() is Follower
    peer.wait(1)
    assert peer.state() is Prospective


def test_follower_fetches_from_others_when_its_leader_does_not_answer() -> None:
    peer = follower()
    peer.replica.fail(fetch_of(peer).number, peer.now_ms)
    assert fetch_of(peer).target == 3


def test_response_of_a_past_epoch_changes_nothing() -> None:
    peer = follower()
    packet = fetch_of(peer)
    peer.respond(packet, fetched(3, 4, records=encode([Entry(4, "late")])))
    assert peer.log.entries == []


def test_response_brings_word_of_a_later_leader() -> None:
    peer = follower()
    answer = fetched(3, 7, error_code=ErrorCode.FENCED_LEADER_EPOCH)
    peer.respond(fetch_of(peer), answer)
    assert peer.raft.leader_and_epoch == (3, 7)
    assert fetch_of(peer).target == 3


def test_response_to_an_abandoned_request_is_ignored() -> None:
    peer = follower()
    packet = fetch_of(peer)
    peer.follow(3, 6)
    peer.respond(packet, fetched(2, 5, records=encode([Entry(5, "late")])))
    assert peer.log.entries == []


def test_observer_finds_the_leader_from_bootstrap_servers() -> None:
    peer = Peer(VoterSet(), bootstrap_servers=(BootstrapServer("n8", 9008),))
    assert peer.state() is Unattached
    packet = fetch_of(peer)
    assert packet.target == 8
    answer = fetched(7, 5, error_code=ErrorCode.FENCED_LEADER_EPOCH)
    answer.node_endpoints = [NodeEndpoint(node_id=7, host="n7", port=9007)]
    peer.respond(packet, answer)
    assert peer.raft.leader_and_epoch == (7, 5)
    assert fetch_of(peer).target == 7


def test_observer_that_finds_no_leader_retries_later_and_never_stands() -> None:
    peer = Peer(voter_set(2, 3))
    answer = fetched(-1, 0, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    peer.respond(fetch_of(peer), answer)
    peer.respond(fetch_of(peer), answer)
    assert peer.requests(FetchRequest) == []
    peer.wait(20)
    assert len(peer.requests(FetchRequest)) == 1
    peer.wait(1_000_000)
    assert peer.state() is Unattached


# ---- snapshots


def test_snapshot_is_downloaded_in_pieces_and_takes_the_place_of_the_log() -> None:
    peer = follower(1, 1)
    snapshot = StoredSnapshot(
        tuple(Entry(4, str(offset)) for offset in range(9)),
        (KRaftVersionRecord(kraft_version=1), voter_set(1, 2, 3, 4).to_record()),
    ).encode()
    needed = SnapshotId(end_offset=9, epoch=4)
    peer.respond(fetch_of(peer), fetched(2, 5, snapshot_id=needed))
    for start, end in ((0, 50), (50, len(snapshot))):
        [packet] = peer.requests(FetchSnapshotRequest)
        assert partition_of(packet.message).position == start
        data = snapshot[start:end]
        piece = snapshot_piece(2, 5, (9, 4), data, position=start, size=len(snapshot))
        peer.respond(packet, piece)
    assert peer.log.end == (9, 4)
    assert peer.raft.high_watermark == 9
    assert peer.raft.voters == voter_set(1, 2, 3, 4)
    assert partition_of(fetch_of(peer).message).fetch_offset == 9


def test_snapshot_that_the_leader_deleted_is_given_up() -> None:
    peer = follower(1)
    peer.respond(fetch_of(peer), fetched(2, 5, snapshot_id=SnapshotId(end_offset=9, epoch=4)))
    [packet] = peer.requests(FetchSnapshotRequest)
    gone = snapshot_piece(2, 5, (-1, -1), b"", position=0, size=0)
    gone.topics[0].partitions[0].error_code = ErrorCode.SNAPSHOT_NOT_FOUND
    peer.respond(packet, gone)
    assert partition_of(fetch_of(peer).message).fetch_offset == 1


@pytest.mark.parametrize(
    ("snapshot_id", "position", "data"),
    [((8, 4), 0, b"x"), ((9, 4), 3, b"x"), ((9, 4), 0, b""), ((9, 4), 0, b"x" * 200)],
)
def test_piece_that_does_not_fit_ends_the_download(
    snapshot_id: tuple[int, int], position: int, data: bytes
) -> None:
    peer = follower(1)
    peer.respond(fetch_of(peer), fetched(2, 5, snapshot_id=SnapshotId(end_offset=9, epoch=4)))
    [packet] = peer.requests(FetchSnapshotRequest)
    peer.respond(packet, snapshot_piece(2, 5, snapshot_id, data, position=position, size=100))
    peer.wait(20)
    assert peer.requests(FetchSnapshotRequest) == []
    assert peer.log.end == (1, 1)


# ---- updates


def test_voter_that_listens_elsewhere_updates_the_leader() -> None:
    peer = Peer()
    moved = with_endpoint(peer.replica.config, 9044)
    peer = follower(endpoints=moved.endpoints)
    peer.wait(1500)
    assert peer.requests(UpdateRaftVoterRequest) == []
    peer.respond(fetch_of(peer), fetched(2, 5))
    peer.wait(600)
    peer.respond(fetch_of(peer), fetched(2, 5))
    [packet] = peer.requests(UpdateRaftVoterRequest)
    assert packet.target == 2
    assert isinstance(packet.message, UpdateRaftVoterRequest)
    assert [each.port for each in packet.message.listeners] == [9044]
