"""Seeds of trouble against the quorum's invariants, and against quorums with a flaw in them."""

import pytest
from ottla.raft import Decisions, OffsetAndEpoch, following, serving, voting
from ottla.raft.progress import Progress
from ottla.raft.quorum import Quorum
from tests.raft_model import InvariantError, Model, Trouble
from tests.raft_replica import Replica

SEEDS = range(40)
STEPS = 1200


@pytest.mark.parametrize("node_count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(8))
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
