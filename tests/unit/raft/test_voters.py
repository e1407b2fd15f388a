from ottla.model import ZERO_UUID
from ottla.raft import ControlRecord, ReplicaKey, VoterSet
from ottla.raft.voter_history import VoterHistory
from ottla.wire.stored.quorum import KRaftVersionRecord, LeaderChangeMessage
from tests.support.raft.raft_replica import directory_id, voter, voter_set


def test_replica_with_another_disk_is_not_the_voter_it_was() -> None:
    assert voter_set(1, 2).has(ReplicaKey(2, directory_id(2)))
    assert not voter_set(1, 2).has(ReplicaKey(2, directory_id(9)))


def test_voter_without_directory_is_any_replica_with_its_id() -> None:
    voters = VoterSet.of([voter(1, directory=ZERO_UUID)])
    assert voters.has(ReplicaKey(1, directory_id(5)))
    assert not voters.has(ReplicaKey(2, directory_id(5)))


def test_voters_survive_their_record() -> None:
    voters = voter_set(3, 1, 2)
    assert VoterSet.from_record(voters.to_record()) == voters
    assert voters.ids == [1, 2, 3]


def test_last_voter_cannot_be_removed() -> None:
    assert voter_set(1).removed(voter(1).key) is None
    assert voter_set(1, 2).removed(voter(1).key) == voter_set(2)
    assert voter_set(1, 2).removed(ReplicaKey(1, directory_id(7))) is None


def test_voter_is_added_once() -> None:
    assert voter_set(1).added(voter(2)) == voter_set(1, 2)
    assert voter_set(1, 2).added(voter(2, directory=directory_id(7))) is None


def test_sets_that_differ_by_one_voter_have_common_majorities() -> None:
    assert voter_set(1, 2, 3).overlaps(voter_set(1, 2))
    assert voter_set(1, 2, 3).overlaps(voter_set(1, 2, 4))
    assert not voter_set(1, 2, 3).overlaps(voter_set(1, 4, 5))


def test_history_returns_voters_by_offset_and_drops_truncated_ones() -> None:
    history = VoterHistory(VoterSet(), [])
    assert history.voters == VoterSet()
    assert history.voters_offset is None
    history.add(
        [
            ControlRecord(0, LeaderChangeMessage()),
            ControlRecord(1, KRaftVersionRecord(kraft_version=1)),
            ControlRecord(2, voter_set(1, 2).to_record()),
            ControlRecord(7, voter_set(1, 2, 3).to_record()),
        ]
    )
    assert history.voters == voter_set(1, 2, 3)
    assert history.previous_voters == voter_set(1, 2)
    assert history.at(7).voters == voter_set(1, 2)
    assert history.at(8).voters == voter_set(1, 2, 3)
    assert history.at(1) == (0, None)
    history.truncate(7)
    assert history.voters == voter_set(1, 2)
    history.truncate(0)
    assert history.voters == VoterSet()
    assert history.kraft_version == 0
