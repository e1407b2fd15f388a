"""What a level of the feature `transaction.version` means."""

from __future__ import annotations

from typing import Final

# Version 1 of the records, which is flexible.
_FLEXIBLE_RECORDS: Final = 1
# TransactionV2 (KIP-890).
_EPOCH_BUMP: Final = 2

# What a client of the older protocol is taken to speak, and what one that sends EndTxn version 5.
TV_0: Final = 0
TV_2: Final = 2


def bumps_epoch(level: int) -> bool:
    """Whether each transaction has a producer epoch of its own."""
    return level >= _EPOCH_BUMP


def record_version(level: int) -> int:
    """Of the values in the log."""
    return 1 if level >= _FLEXIBLE_RECORDS else 0
