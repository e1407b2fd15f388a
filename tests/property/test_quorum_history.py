"""Three replicas of the metadata through crashes, losses of power and of each other."""

import asyncio

import pytest

from tests.support.raft.quorum_history import QuorumHistory


@pytest.mark.parametrize("first_seed", range(0, 40, 10))
def test_no_crash_of_any_replica_loses_what_was_answered(first_seed: int) -> None:
    async def play(seed: int) -> None:
        await QuorumHistory(seed).run()

    for seed in range(first_seed, first_seed + 10):
        try:
            asyncio.run(play(seed))
        except Exception as error:
            raise AssertionError(f"history {seed} fails; QuorumHistory({seed}) is it") from error
