"""How much is measured of clusters: enough for a glance, or enough for the history."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    starts: int
    # Rounds of the load on each side, of which the median counts.
    rounds: int
    produced_bytes: int
    # Before anything is measured: a virtual machine compiles what it has run often enough.
    warmup_bytes: int
    # Rounds of each fault on each side, of which the median and the worst are told.
    faults: int
    # Of a node that is paused: most of a round is the client's patience, a minute of it.
    pauses: int
    # Partitions of three replicas each, spread over so many topics.
    topics: int
    partitions: int
    idle_s: float


QUICK = Amount(
    starts=1,
    rounds=2,
    produced_bytes=300_000_000,
    warmup_bytes=500_000_000,
    faults=1,
    pauses=0,
    topics=6,
    partitions=600,
    idle_s=4,
)
FULL = Amount(
    starts=3,
    rounds=5,
    produced_bytes=1_000_000_000,
    warmup_bytes=3_000_000_000,
    faults=5,
    pauses=3,
    topics=100,
    partitions=10_000,
    idle_s=10,
)
