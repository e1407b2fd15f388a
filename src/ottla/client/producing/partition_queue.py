"""The batches of one partition, and the order in which they may be sent. No I/O.

    open      the batch that records are added to; once it is due, until it is sent
    ready     batches that were never sent, in order
    outstanding   batches that have a sequence number and no answer that decides them, in order

What keeps the order, and keeps records from being written twice:

- A batch that has to be sent again goes before all later ones, and alone: while one waits for
  that, nothing new is sent, and it is sent itself when no other is in flight.
- Batches are in flight to one node only. When the leader changes, the next is sent after the
  answers of the old one.
- The first batch under a producer id and epoch is sent alone: a leader without state of the
  producer accepts any sequence number as its first.
- When a sequence number is missing on the leader (OUT_OF_ORDER_SEQUENCE_NUMBER for the batch that
  is next), no later batch can have been written. The partition begins anew: the batches that are
  outstanding get sequence numbers from 0 on under the next epoch (KIP-360).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from ottla.client.producing.batch import NO_IDENTITY, BatchFormat, ProducerBatch, ProducerIdentity
from ottla.model import TopicPartition
from ottla.wire.records.header import increment_sequence

if TYPE_CHECKING:
    from ottla.runtime.clock import Timer

NO_NODE: Final = -1


class PartitionQueue:
    """Owned by a producer's accumulator; its sender takes batches from it."""

    __slots__ = (
        "_format",
        "_identity",
        "_in_flight_max",
        "_is_proven",
        "_last_acknowledged",
        "_next_sequence",
        "failures",
        "in_flight",
        "is_due",
        "is_unresolved",
        "linger",
        "needs_restart",
        "node_id",
        "open",
        "outstanding",
        "partition",
        "ready",
        "retry_at",
    )

    def __init__(self, partition: TopicPartition, how: BatchFormat, *, in_flight_max: int) -> None:
        self.partition = partition
        self.open: ProducerBatch | None = None
        # Whether the open batch has lingered. While it cannot be sent, it still takes records.
        self.is_due = False
        self.ready: deque[ProducerBatch] = deque()
        self.outstanding: deque[ProducerBatch] = deque()
        self.in_flight = 0
        # Where the batches in flight are.
        self.node_id = NO_NODE
        # The clock's monotonic seconds from which a batch may be sent again, and why so late.
        self.retry_at = 0.0
        self.failures = 0
        self.linger: Timer | None = None
        # Whether a batch was given up of which it is unknown whether it was written.
        self.is_unresolved = False
        # Whether a sequence number is missing on the leader.
        self.needs_restart = False
        self._format = how
        self._in_flight_max = in_flight_max
        self._identity = NO_IDENTITY
        self._next_sequence = 0
        self._last_acknowledged = -1
        self._is_proven = False

    def __len__(self) -> int:
        """Batches that are not decided."""
        return len(self.ready) + len(self.outstanding) + (self.open is not None)

    @property
    def identity(self) -> ProducerIdentity:
        """The identity under which the outstanding batches have their sequence numbers."""
        return self._identity

    def close_open(self) -> None:
        """Makes the open batch ready."""
        if self.linger is not None:
            self.linger.cancel()
            self.linger = None
        self.is_due = False
        if self.open is not None:
            self.ready.append(self.open)
            self.open = None

    @property
    def has_sendable(self) -> bool:
        """Whether `next_batch` might return a batch, if not now then after the next answer."""
        if self.outstanding and self.outstanding[0].is_failed:
            return not self.in_flight
        return bool(self.ready) or self.is_due

    @property
    def next_size(self) -> int:
        """Bytes of the batch that `next_batch` returns next."""
        if self.outstanding and not self.in_flight:
            return self.outstanding[0].size
        batch = self.ready[0] if self.ready else self.open
        return 0 if batch is None else batch.size

    def is_open_next(self, identity: ProducerIdentity) -> bool:
        """Whether the open batch can be sent now, once it is closed."""
        return self.is_due and not self.ready and not self._is_held(identity)

    def next_batch(self, identity: ProducerIdentity) -> ProducerBatch | None:
        """The batch to send now, sealed. `identity` is the producer's current one, or
        NO_IDENTITY."""
        if any(batch.is_failed for batch in self.outstanding) or self.needs_restart:
            if self.in_flight:
                return None
            if self.needs_restart:
                self._restart(identity)
            if self.outstanding:
                return self._sent(self.outstanding[0])
        if not self.ready or self._is_held(identity):
            return None
        if identity is not self._identity and identity != self._identity:
            self._begin(identity)
        batch = self.ready.popleft()
        self._seal(batch)
        self.outstanding.append(batch)
        return self._sent(batch)

    def acknowledged(self, batch: ProducerBatch) -> None:
        self._returned(batch)
        self.outstanding.remove(batch)
        self._last_acknowledged = batch.last_sequence
        self._is_proven = True
        self.failures = 0
        self.retry_at = 0.0
        if not self.outstanding:
            # What followed a batch that was given up was written: so was that batch.
            self.is_unresolved = self.is_unresolved and self._next_sequence != increment_sequence(
                self._last_acknowledged, by=1
            )
            self.needs_restart = self.needs_restart or self.is_unresolved

    def failed(self, batch: ProducerBatch, *, retry_at: float) -> None:
        """The batch has to be sent again, not before this time."""
        self._returned(batch)
        batch.is_failed = True
        self.failures += 1
        self.retry_at = retry_at

    def gave_up(self, batch: ProducerBatch, *, is_unresolved: bool) -> None:
        """The batch is not sent again. It is unresolved if it is unknown whether it was written,
        and otherwise its sequence number is missing on the leader."""
        self._returned(batch)
        if batch in self.ready:
            self.ready.remove(batch)
        elif batch in self.outstanding:
            self.outstanding.remove(batch)
            if batch.identity != NO_IDENTITY:
                self.is_unresolved = self.is_unresolved or is_unresolved
                if not is_unresolved or not self.outstanding:
                    self.needs_restart = True

    def replaced(self, batch: ProducerBatch, parts: list[ProducerBatch]) -> None:
        """The batch was split. Its parts have its sequence numbers and its place."""
        self._returned(batch)
        at = self.outstanding.index(batch)
        del self.outstanding[at]
        sequence = batch.base_sequence
        for offset, part in enumerate(parts):
            part.seal(self._format, batch.identity, sequence)
            part.is_failed = True
            part.attempts = batch.attempts
            if batch.identity != NO_IDENTITY:
                sequence = increment_sequence(sequence, by=part.count)
            self.outstanding.insert(at + offset, part)

    def is_next(self, batch: ProducerBatch) -> bool:
        """Whether the leader must expect this batch, if it has all that it acknowledged."""
        return batch.base_sequence == increment_sequence(self._last_acknowledged, by=1)

    def is_first(self, batch: ProducerBatch) -> bool:
        return bool(self.outstanding) and self.outstanding[0] is batch

    def take_unsent(self) -> list[ProducerBatch]:
        """Removes and returns the batches that were never sent."""
        self.close_open()
        unsent = list(self.ready)
        self.ready.clear()
        return unsent

    def _is_held(self, identity: ProducerIdentity) -> bool:
        """Whether nothing new can be sent before the next answer."""
        if self.in_flight >= self._in_flight_max:
            return True
        if identity is not self._identity and identity != self._identity:
            return bool(self.outstanding)
        return self.in_flight > 0 and not self._is_proven and identity != NO_IDENTITY

    def _begin(self, identity: ProducerIdentity) -> None:
        self._identity = identity
        self._next_sequence = 0
        self._last_acknowledged = -1
        self._is_proven = False
        self.is_unresolved = self.needs_restart = False

    def _restart(self, identity: ProducerIdentity) -> None:
        """The leader must not have seen this identity, or it would expect its sequence numbers."""
        assert identity != self._identity
        self._begin(identity)
        for batch in self.outstanding:
            self._seal(batch)
            batch.is_failed = True

    def _seal(self, batch: ProducerBatch) -> None:
        if self._identity == NO_IDENTITY:
            batch.seal(self._format, NO_IDENTITY, -1)
        else:
            batch.seal(self._format, self._identity, self._next_sequence)
            self._next_sequence = increment_sequence(self._next_sequence, by=batch.count)

    def _sent(self, batch: ProducerBatch) -> ProducerBatch:
        batch.is_failed = False
        batch.is_in_flight = True
        batch.attempts += 1
        self.in_flight += 1
        return batch

    def _returned(self, batch: ProducerBatch) -> None:
        if batch.is_in_flight:
            batch.is_in_flight = False
            self.in_flight -= 1
