"""How much is measured: enough for a glance, or enough for the history."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    # Rounds of each measurement on each side, of which the median counts.
    rounds: int
    consumed_messages: int
    # Groups of two members each, and for how long their heartbeats are watched.
    idle_groups: int
    idle_s: float
    commits: int


QUICK = Amount(rounds=1, consumed_messages=300_000, idle_groups=200, idle_s=10, commits=200_000)
FULL = Amount(
    rounds=3, consumed_messages=1_000_000, idle_groups=1_000, idle_s=30, commits=1_000_000
)
