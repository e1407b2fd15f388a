"""Seeds of trouble against the quorum's invariants, and against quorums with a flaw in them.

Each flaw is a mistake that consensus has been shipped with. A model that lets one pass is not worth
its time.
"""

from collections.abc import Callable

import pytest

from ottla.raft import Decisions, OffsetAndEpoch, ReplicatedLog, VoterSet, serving, voting
from ottla.raft.log import Diverging, SnapshotNeeded, find_obstacle
from ottla.raft.progress import Progress
from ottla.raft.quorum import Quorum
from ottla.raft.states import Leader, Prospective, Unattached
from ottla.raft.voters import ReplicaKey
from tests.support.raft.raft_model import InvariantError, Model, Trouble
from tests.support.raft.raft_replica import Replica

STEPS = 1000
# Leaders change and crash often, and the voters stay the same.
RESTLESS = Trouble(
    deliver=70, elapse=25, append=8, flush=6, crash=4, start=10, split=2, change_voters=0
)


@pytest.mark.parametrize("node_count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_invariants_hold_and_quorum_recovers(node_count: int, seed: int) -> None:
    model = Model(seed * 10 + node_count, node_count)
    model.run(STEPS)
    model.heal_and_settle()
    leader = model.leader()
    assert leader is not None, "no leader though nothing goes wrong any more"
    leader.append("the end")
    model.heal_and_settle(5000)
    entries = leader.disk.log.all_entries()
    assert str(entries[-1]) == "the end"
    for replica in model.replicas.values():
        assert replica.raft.high_watermark == len(entries)
        assert replica.disk.log.all_entries() == entries
        assert replica.raft.leader_and_epoch == leader.raft.leader_and_epoch


# ---- flaws

Patch = Callable[[pytest.MonkeyPatch], None]


def votes_twice(patch: pytest.MonkeyPatch) -> None:
    def can_vote(quorum: Quorum, nominee: ReplicaKey, *, is_up_to_date: bool) -> bool:
        return is_up_to_date and isinstance(quorum.state, Unattached | Prospective)

    patch.setattr(voting, "_can_vote", can_vote)


def votes_for_shorter_logs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OffsetAndEpoch, "is_up_to_date_with", lambda end, other: True)


def commits_records_of_older_epochs(patch: pytest.MonkeyPatch) -> None:
    class Careless(Progress):
        def __init__(self, local: ReplicaKey, voters: VoterSet, *, epoch_start_offset: int) -> None:
            super().__init__(local, voters, epoch_start_offset=-1)

    patch.setattr("ottla.raft.quorum.Progress", Careless)


def leader_counts_what_it_has_not_flushed(patch: pytest.MonkeyPatch) -> None:
    honest = serving.maybe_commit

    def maybe_commit(quorum: Quorum, leader: Leader) -> None:
        flushed_end_offset = quorum.log.flushed_end_offset
        quorum.log.flushed_end_offset = quorum.log.end.offset  # type: ignore[misc]
        honest(quorum, leader)
        quorum.log.flushed_end_offset = flushed_end_offset  # type: ignore[misc]

    patch.setattr(serving, "maybe_commit", maybe_commit)


def follower_fetches_before_it_flushed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Quorum, "is_flushed", True)


def leader_does_not_see_logs_diverge(patch: pytest.MonkeyPatch) -> None:
    def find_less(log: ReplicatedLog, fetched: OffsetAndEpoch) -> Diverging | SnapshotNeeded | None:
        is_readable = log.start.offset < fetched.offset <= log.end.offset
        return None if is_readable else find_obstacle(log, fetched)

    patch.setattr(serving, "find_obstacle", find_less)


def votes_are_not_persisted(patch: pytest.MonkeyPatch) -> None:
    def persist(replica: Replica, decisions: Decisions) -> None: ...

    patch.setattr(Replica, "persist", persist)


def _first_broken_seed(seeds: int) -> int | None:
    for seed in range(seeds):
        try:
            Model(seed, 3, trouble=RESTLESS).run(600)
        except InvariantError:
            return seed
    return None


@pytest.mark.parametrize(
    "flaw",
    [
        votes_twice,
        votes_for_shorter_logs,
        commits_records_of_older_epochs,
        leader_counts_what_it_has_not_flushed,
        follower_fetches_before_it_flushed,
        leader_does_not_see_logs_diverge,
        votes_are_not_persisted,
    ],
)
def test_model_catches_flaw(flaw: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    flaw(monkeypatch)
    assert _first_broken_seed(200) is not None


def test_model_finds_nothing_where_flaws_are_looked_for() -> None:
    assert _first_broken_seed(50) is None
