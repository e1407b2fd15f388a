"""The states of a transactional id, as they are stored and shown.

                     add partitions
      ┌──────────────────────────────────────────┐
      │                                          ▼
    Empty ◀──init── CompleteCommit            Ongoing ──add──▶ Ongoing
      ▲             CompleteAbort ──add──────▶   │
      │               ▲       ▲                  │ end, timeout, or init by somebody else
      └─────init──────┘       │                  ▼
                              └─markers── PrepareCommit / PrepareAbort

With TransactionV2 an abort may come from Empty and from the complete states too: the producer asks
for a new epoch that way without having added a partition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class TransactionState(IntEnum):
    """Numbered as on disk. `DEAD` and `PREPARE_EPOCH_FENCE` are Kafka's in memory only."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    # A member's own is not C's, and a transaction looks its states up a dozen times.
    __hash__ = int.__hash__

    @property
    def title(self) -> str:
        """The name that clients see."""
        return self.name.title().replace("_", "")

    @property
    def is_prepared(self) -> bool:
        """Decided, and its markers are not all written."""
        return self in _PREPARED

    @property
    def is_idle(self) -> bool:
        """Without a transaction. Only then can the id expire."""
        return self in _IDLE


_PREPARED: Final = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
_IDLE: Final = (
    TransactionState.EMPTY,
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
)

STATES_BY_TITLE: Final = {state.title: state for state in TransactionState}

# From which states each may come, in the order of a transaction's life.
PREVIOUS_STATES: Final = {
    TransactionState.EMPTY: frozenset(_IDLE),
    TransactionState.ONGOING: frozenset((*_IDLE, TransactionState.ONGOING)),
    TransactionState.PREPARE_COMMIT: frozenset({TransactionState.ONGOING}),
    TransactionState.PREPARE_ABORT: frozenset((*_IDLE, TransactionState.ONGOING)),
    TransactionState.COMPLETE_COMMIT: frozenset({TransactionState.PREPARE_COMMIT}),
    TransactionState.COMPLETE_ABORT: frozenset({TransactionState.PREPARE_ABORT}),
}
