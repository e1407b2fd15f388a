"""How much is measured: enough for a glance, or enough for the history."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Scale:
    # Rounds of each load on each side, of which the median counts.
    rounds: int
    produced_bytes: int
    # Of 100 B, and in requests of one record: their cost is by the piece.
    produced_small_messages: int
    produced_requests: int
    # Before anything is measured: a virtual machine compiles what it has run often enough.
    warmup_bytes: int
    warmup_requests: int
    latency_rounds: int
    latency_s: int
    starts: int
    topics: int
    idle_s: float
    # What the Python and Java clients measure beside the C one, if anything.
    other_clients: Scale | None = None


QUICK = Scale(
    rounds=2,
    produced_bytes=300_000_000,
    produced_small_messages=500_000,
    produced_requests=20_000,
    warmup_bytes=500_000_000,
    warmup_requests=60_000,
    latency_rounds=1,
    latency_s=4,
    starts=1,
    topics=200,
    idle_s=4,
)
_FULL = Scale(
    rounds=5,
    produced_bytes=1_000_000_000,
    produced_small_messages=3_000_000,
    produced_requests=60_000,
    warmup_bytes=3_000_000_000,
    warmup_requests=200_000,
    latency_rounds=3,
    latency_s=6,
    starts=3,
    topics=2_000,
    idle_s=10,
)
# They are slower, and there for the picture rather than for the bounds.
FULL = replace(
    _FULL,
    other_clients=replace(
        _FULL, rounds=2, produced_bytes=400_000_000, latency_rounds=1, latency_s=5
    ),
)
