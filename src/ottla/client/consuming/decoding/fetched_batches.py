"""The batches of one partition in one fetch response, opened one by one.

Batches before the position, control batches and, with `read_committed`, the batches of aborted
transactions are skipped. Nothing is decoded or checked before it is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import AbortedTransaction
from ottla.wire.records.batch import iterate_batches, validate_batch
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.record import iterate_records


class DataBatch(NamedTuple):
    """A batch of records that the application gets."""

    header: BatchHeader
    data: memoryview


class FetchedBatches:
    """An iterator over the batches to return, ended by None. `next_offset` is the offset after the
    last batch that was passed, returned or not: the position once its records are consumed."""

    def __init__(
        self,
        data: Buffer,
        aborted: Iterable[AbortedTransaction],
        *,
        position: int,
        is_read_committed: bool,
        checks_crcs: bool,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.next_offset = position
        self.leader_epoch = -1
        self._data = memoryview(data)
        self._batches: Iterator[tuple[int, BatchHeader]] = iterate_batches(self._data)
        self._position = position
        self._is_read_committed = is_read_committed
        self._checks_crcs = checks_crcs
        self._on_end = on_end
        # Aborted transactions that begin after the batches passed so far, the first one last.
        self._later = sorted(
            ((each.first_offset, each.producer_id) for each in aborted), reverse=True
        )
        self._aborted: set[int] = set()

    def next(self) -> DataBatch | None:
        """Raises ProtocolError if the next batch is corrupt. It is not passed then."""
        for at, header in self._batches:
            if header.last_offset < self._position:
                self._note_transactions(at, header)
                continue
            data = self._data[at : at + header.size_in_bytes]
            if self._checks_crcs:
                self._validate(data, header)
            is_skipped = self._note_transactions(at, header)
            self.next_offset = header.last_offset + 1
            self.leader_epoch = header.leader_epoch
            if not is_skipped and header.record_count:
                return DataBatch(header, data)
        self.close()
        return None

    def close(self) -> None:
        """Lets go of the response's memory."""
        self._batches = iter(())
        self._data = memoryview(b"")
        on_end, self._on_end = self._on_end, lambda: None
        on_end()

    def _validate(self, data: memoryview, header: BatchHeader) -> None:
        try:
            validate_batch(data, allow_gaps=True)
        except ProtocolError as error:
            # Reached again by the next call, which must not skip it.
            self._batches = iter([(0, header)])
            self._data = data
            raise ProtocolError(f"the batch at offset {header.base_offset}: {error}") from error

    def _note_transactions(self, at: int, header: BatchHeader) -> bool:
        """Follows the transactions. Returns whether the application must not see the batch."""
        if not self._is_read_committed:
            return header.is_control
        later = self._later
        while later and later[-1][0] <= header.last_offset:
            self._aborted.add(later.pop()[1])
        if header.is_control:
            if header.producer_id in self._aborted and _is_abort(self._data, at):
                self._aborted.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._aborted


def _is_abort(data: memoryview, at: int) -> bool:
    record = next(iter(iterate_records(data, at)), None)
    return record is not None and read_control_type(record.key) is ControlRecordType.ABORT
