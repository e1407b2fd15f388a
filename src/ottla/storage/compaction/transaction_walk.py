"""Tracks transactions while a compaction reads a log.

Every transaction below the last stable offset is decided, and the transaction indexes name the
aborted ones; all others were committed. This module determines whether a marker is still needed,
which it is while a batch of its transaction precedes it in the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.model import Buffer
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import read_body
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.record import walk_records


class MetMarker(NamedTuple):
    """A control batch: whether its transaction has no batches left, and the index entry to keep."""

    is_orphan: bool
    aborted: AbortedTransaction | None = None


class TransactionWalk:
    """One pass over a log. Receives every batch in log order."""

    __slots__ = ("_aborted", "_coming", "_committed", "_has_batches")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        # Aborted transactions that have not begun yet; the next one is last.
        self._coming = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
        # By producer id: aborted transactions that have begun, and the producers among them of
        # which a batch was read.
        self._aborted: dict[int, AbortedTransaction] = {}
        self._has_batches: set[int] = set()
        # Producers of committed transactions of which a batch was read.
        self._committed: set[int] = set()

    def meet_data(self, header: BatchHeader) -> bool:
        """Whether the batch belongs to an aborted transaction."""
        if not header.is_transactional:
            return False
        self._begin_up_to(header.last_offset)
        producer_id = header.producer_id
        aborted = self._aborted.get(producer_id)
        if aborted is not None and header.base_offset < aborted.last_offset:
            self._has_batches.add(producer_id)
            return True
        self._committed.add(producer_id)
        return False

    def meet_marker(self, header: BatchHeader, batch: Buffer) -> MetMarker:
        self._begin_up_to(header.last_offset)
        producer_id = header.producer_id
        if not header.record_count:
            # Kafka's compaction empties markers; here records of the transaction may still precede
            # it.
            self._committed.discard(producer_id)
            return MetMarker(is_orphan=True)
        record_type = _control_type(header, batch)
        if record_type is ControlRecordType.COMMIT:
            is_orphan = producer_id not in self._committed
            self._committed.discard(producer_id)
            return MetMarker(is_orphan)
        if record_type is not ControlRecordType.ABORT:
            return MetMarker(is_orphan=False)
        if producer_id in self._committed:
            raise ProtocolError(
                f"it aborts a transaction of producer {producer_id} that is in no transaction index"
            )
        aborted = self._aborted.pop(producer_id, None)
        if producer_id not in self._has_batches:
            return MetMarker(is_orphan=True)
        self._has_batches.discard(producer_id)
        return MetMarker(is_orphan=False, aborted=aborted)

    def _begin_up_to(self, offset: int) -> None:
        coming = self._coming
        while coming and coming[-1].first_offset <= offset:
            begun = coming.pop()
            # A pass that begins in the middle of a log may miss the end of the previous
            # transaction.
            self._aborted[begun.producer_id] = begun
            self._has_batches.discard(begun.producer_id)


def _control_type(header: BatchHeader, batch: Buffer) -> ControlRecordType:
    record = next(walk_records(read_body(batch, 0, header), header.record_count))
    return read_control_type(record[4])
