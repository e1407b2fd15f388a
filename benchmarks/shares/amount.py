"""How much is measured: enough for a glance, or enough for the history."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShareAmount:
    rounds: int
    records: int
    acknowledgements: int


QUICK = ShareAmount(rounds=2, records=60_000, acknowledgements=1_000)
FULL = ShareAmount(rounds=5, records=200_000, acknowledgements=3_000)
