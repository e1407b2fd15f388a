"""How much is measured: enough for a glance, or enough for the history."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    # Rounds of each measurement on each side, of which the median counts.
    rounds: int
    # Before anything is measured: a virtual machine compiles what it has run often enough.
    warmup_transactions: int
    # Of each producer, in each round.
    small_transactions: int
    large_transactions: int
    commits: int
    # In the topic that is consumed.
    consumed_transactions: int


QUICK = Amount(
    rounds=3,
    warmup_transactions=1_000,
    small_transactions=500,
    large_transactions=20,
    commits=300,
    consumed_transactions=6_000,
)
FULL = Amount(
    rounds=5,
    warmup_transactions=3_000,
    small_transactions=1_000,
    large_transactions=50,
    commits=800,
    consumed_transactions=12_000,
)
