"""A transaction that a leader has been asked to write to and does not know yet (KIP-890).

    asked the coordinator ──in the transaction──▶ first batch appended, verification forgotten
                          ──not in it──────────▶ kept until another attempt, or until it expires

The object itself is the guard: an append that opens a transaction has to bring the one that the
producer state holds. If a marker came in between, it is gone from there, and what was verified for
the transaction before cannot open the next one.
"""

from __future__ import annotations


class Verification:
    """Of one producer on one partition. Made and owned by its producer state."""

    __slots__ = ("lowest_sequence", "producer_epoch", "started_ms", "supports_epoch_bump")

    def __init__(
        self, *, producer_epoch: int, sequence: int, supports_epoch_bump: bool, now_ms: int
    ) -> None:
        self.producer_epoch = producer_epoch
        # While nothing is appended, only this tells which of several batches under way is first.
        self.lowest_sequence = sequence
        # Whether the client speaks TransactionV2, where each transaction has an epoch of its own.
        self.supports_epoch_bump = supports_epoch_bump
        self.started_ms = now_ms

    def meet(self, *, producer_epoch: int, sequence: int) -> None:
        """Another batch of the producer has to be verified."""
        if producer_epoch > self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.lowest_sequence = sequence
        elif producer_epoch == self.producer_epoch and sequence < self.lowest_sequence:
            self.lowest_sequence = sequence
