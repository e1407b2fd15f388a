"""The states of a classic group.

    Empty ──────────────▶ PreparingRebalance ◀──────────── Stable
      ▲                    │       ▲                         ▲
      │   nobody is left   │       │ somebody joins,         │ the leader's
      └────────────────────┤       │ leaves or fails         │ assignments
                           ▼       │                         │ are committed
                     CompletingRebalance ────────────────────┘

A group that is removed, or whose coordinator moves, is Dead.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class ClassicState(Enum):
    """The values are what Kafka's tools show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


PREVIOUS_STATES: Final = {
    ClassicState.EMPTY: {ClassicState.PREPARING_REBALANCE},
    ClassicState.PREPARING_REBALANCE: {
        ClassicState.EMPTY,
        ClassicState.COMPLETING_REBALANCE,
        ClassicState.STABLE,
    },
    ClassicState.COMPLETING_REBALANCE: {ClassicState.PREPARING_REBALANCE},
    ClassicState.STABLE: {ClassicState.COMPLETING_REBALANCE},
    ClassicState.DEAD: set(ClassicState),
}
