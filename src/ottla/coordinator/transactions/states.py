"""The states of a transactional id, as stored and as shown to clients.

                     add partitions
      ┌──────────────────────────────────────────┐
      │                                          ▼
    Empty ◀──init── CompleteCommit            Ongoing ──add──▶ Ongoing
      ▲             CompleteAbort ──add──────▶   │
      │               ▲       ▲                  │ end, timeout, or init by another producer
      └─────init──────┘       │                  ▼
                              └─markers── PrepareCommit / PrepareAbort

With TransactionV2 an abort is also possible from Empty and from the complete states: this is how a
producer gets a new epoch without having added a partition.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class TransactionState(IntEnum):
    """Numbered as on disk. Kafka uses `DEAD` and `PREPARE_EPOCH_FENCE` only in memory."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    # Enum's own hash is written in Python and slow; a transaction hashes states a dozen times.
    __hash__ = int.__hash__

    @property
    def title(self) -> str:
        """The name that clients see."""
        return self.name.title().replace("_", "")

    @property
    def is_prepared(self) -> bool:
        """Prepared to commit or abort, with markers still to be written."""
        return self in _PREPARED

    @property
    def is_idle(self) -> bool:
        """Without a transaction. Only idle ids can expire."""
        return self in _IDLE


_PREPARED: Final = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
_IDLE: Final = (
    TransactionState.EMPTY,
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
)

STATES_BY_TITLE: Final = {state.title: state for state in TransactionState}

# The valid previous states of each state, in the order of a transaction's life cycle.
PREVIOUS_STATES: Final = {
    TransactionState.EMPTY: frozenset(_IDLE),
    TransactionState.ONGOING: frozenset((*_IDLE, TransactionState.ONGOING)),
    TransactionState.PREPARE_COMMIT: frozenset({TransactionState.ONGOING}),
    TransactionState.PREPARE_ABORT: frozenset((*_IDLE, TransactionState.ONGOING)),
    TransactionState.COMPLETE_COMMIT: frozenset({TransactionState.PREPARE_COMMIT}),
    TransactionState.COMPLETE_ABORT: frozenset({TransactionState.PREPARE_ABORT}),
}
