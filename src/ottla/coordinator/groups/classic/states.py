"""The states of a classic group.

    Empty ──────────────▶ PreparingRebalance ◀──────────── Stable
      ▲                    │       ▲                         ▲
      │   no member left   │       │ a member joins,         │ the leader's
      └────────────────────┤       │ leaves or fails         │ assignments
                           ▼       │                         │ are committed
                     CompletingRebalance ────────────────────┘

A group that was removed, or whose coordinator has moved, is Dead.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class ClassicState(Enum):
    """The values are the names in Kafka's tools."""

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
