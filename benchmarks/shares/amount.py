"""How much is measured: enough for a glance, or enough for the history.

With fewer records, the beginning of 32 sessions is most of what is measured.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShareAmount:
    rounds: int
    records: int
    acknowledgements: int


QUICK = ShareAmount(rounds=2, records=200_000, acknowledgements=1_000)
FULL = ShareAmount(rounds=5, records=400_000, acknowledgements=3_000)
