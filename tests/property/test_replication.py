"""Whatever happens to three replicas, nothing that was acknowledged or read is lost.

replicated_history.py says what is played and what must hold. A failure names its seed, which plays
the same history again.
"""

from __future__ import annotations

import pytest

from tests.support.replication.replicated_history import ReplicatedHistory

# The number to turn up.
HISTORIES = 200
HISTORIES_PER_TEST = 50


@pytest.mark.parametrize("loses_power", [False, True])
@pytest.mark.parametrize("first_seed", range(0, HISTORIES, HISTORIES_PER_TEST))
def test_no_acknowledged_record_is_lost_and_replicas_agree(
    first_seed: int, loses_power: bool
) -> None:
    acknowledged = elections = truncations = 0
    for seed in range(first_seed, first_seed + HISTORIES_PER_TEST):
        history = ReplicatedHistory(seed, loses_power=loses_power)
        try:
            history.run()
        except Exception as error:
            raise AssertionError(
                f"history {seed} fails; ReplicatedHistory({seed}, loses_power={loses_power}).run() "
                f"plays it again"
            ) from error
        acknowledged += history.acknowledged
        elections += history.elections
        truncations += history.truncations
    # A history in which nothing happens proves nothing.
    assert acknowledged > 3 * HISTORIES_PER_TEST
    assert elections > 3 * HISTORIES_PER_TEST
    assert truncations > HISTORIES_PER_TEST // 2
