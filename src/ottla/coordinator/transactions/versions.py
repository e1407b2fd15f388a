"""The levels of the feature `transaction.version`."""

from __future__ import annotations

from typing import Final

# Version 1 of the records, which is flexible.
_FLEXIBLE_RECORDS: Final = 1
# TransactionV2 (KIP-890).
_EPOCH_BUMP: Final = 2

# The levels assumed for clients of the older protocol, and for clients with EndTxn version 5.
TV_0: Final = 0
TV_2: Final = 2


def bumps_epoch(level: int) -> bool:
    """Whether each transaction has its own producer epoch."""
    return level >= _EPOCH_BUMP


def record_version(level: int) -> int:
    """The version of the values in the log."""
    return 1 if level >= _FLEXIBLE_RECORDS else 0
