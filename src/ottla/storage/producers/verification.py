"""The verification of a transaction that is not yet open on this partition (KIP-890).

    coordinator queried ──in the transaction──▶ first batch appended, verification forgotten
                        ──not in it──────────▶ kept until another attempt, or until it expires

The object itself is the guard: an append that opens a transaction must pass the object that the
producer state holds. A marker removes it from the state, so that a verification for one transaction
cannot open the next.
"""

from __future__ import annotations


class Verification:
    """Of one producer on one partition. Created and owned by its producer state."""

    __slots__ = ("lowest_sequence", "producer_epoch", "started_ms", "supports_epoch_bump")

    def __init__(
        self, *, producer_epoch: int, sequence: int, supports_epoch_bump: bool, now_ms: int
    ) -> None:
        self.producer_epoch = producer_epoch
        # Until a batch is appended, only this shows which of several batches in flight is the
        # first.
        self.lowest_sequence = sequence
        # Whether the client uses TransactionV2, where each transaction has its own epoch.
        self.supports_epoch_bump = supports_epoch_bump
        self.started_ms = now_ms

    def meet(self, *, producer_epoch: int, sequence: int) -> None:
        """Records another batch of the producer that has to be verified."""
        if producer_epoch > self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.lowest_sequence = sequence
        elif producer_epoch == self.producer_epoch and sequence < self.lowest_sequence:
            self.lowest_sequence = sequence
