"""Verifies an index by itself and against its log.

First the same sanity checks as a broker makes when it loads an index. Then, as in Kafka's
DumpLogSegments, each entry is compared with its batch. The log's batch headers are read once, in
parallel with the entries, so a position that is not the start of a batch is detected too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from ottla.dump.files import KnownFile
from ottla.dump.index_rows import (
    open_offset_index,
    open_time_index,
    open_transaction_index,
    used_offset_entries,
    used_time_entries,
)
from ottla.dump.rows import Problem, Row
from ottla.model import NO_TIMESTAMP
from ottla.runtime.disk import Disk, File
from ottla.storage.errors import CorruptIndexError, CorruptLogError
from ottla.storage.files.file_names import FileKind
from ottla.storage.indexes.offset_index import OffsetIndex, OffsetPosition
from ottla.storage.indexes.time_index import TimeIndex, TimestampOffset
from ottla.storage.indexes.transaction_index import TransactionIndex
from ottla.storage.segments.batch_scan import scan_headers
from ottla.wire.errors import ProtocolError
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.record import iterate_records


class LogBeside:
    """The log of an index, read forward once by batch headers. The caller owns the file.

    `position` and `header` are those of the current batch; `header` is None after the last one.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._headers = scan_headers(file, 0, file.size())
        self.position = 0
        self.header: BatchHeader | None = None
        self._step()

    def skip_to_position(self, position: int) -> BatchHeader | None:
        """Moves to the first batch that begins at this position or later."""
        while self.header is not None and self.position < position:
            self._step()
        return self.header

    def skip_to_offset(self, offset: int) -> BatchHeader | None:
        """Moves to the first batch whose last offset is this one or higher."""
        while self.header is not None and self.header.last_offset < offset:
            self._step()
        return self.header

    def max_timestamp(self) -> int:
        """The latest timestamp of the batch's records; the header's if compaction removed them
        all.
        """
        assert self.header is not None, "there is no batch"
        data = self._file.read_at(self.position, self.header.size_in_bytes)
        timestamps = (record.timestamp for record in iterate_records(data))
        return max(timestamps, default=self.header.max_timestamp)

    def _step(self) -> None:
        try:
            self.position, self.header = next(self._headers)
        except (StopIteration, CorruptLogError):
            # Corruption of the log is reported for the log; for the index the log ends there.
            self.header = None


def verify_offset_index(disk: Disk, file: KnownFile) -> Iterator[Row]:
    """The checked entries, each wrong one followed by a problem."""
    with open_offset_index(disk, file) as index:
        yield from _sanity(index)
        path = file.beside(FileKind.LOG)
        if not disk.exists(path):
            yield _no_log(file, path)
            return
        with closing(disk.open_readonly(path)) as opened:
            log = LogBeside(opened)
            last = OffsetPosition(-1, -1)
            for entry in used_offset_entries(index):
                yield entry
                wrong = _wrong_offset_entry(entry, last, log)
                if wrong:
                    yield Problem(f"{file.path}: {entry.offset} at byte {entry.position} {wrong}")
                last = entry


def verify_time_index(disk: Disk, file: KnownFile) -> Iterator[Row]:
    """The checked entries, each wrong one followed by a problem."""
    with open_time_index(disk, file) as index:
        yield from _sanity(index)
        path = file.beside(FileKind.LOG)
        if not disk.exists(path):
            yield _no_log(file, path)
            return
        with closing(disk.open_readonly(path)) as opened:
            log = LogBeside(opened)
            last = TimestampOffset(NO_TIMESTAMP, -1)
            for entry in used_time_entries(index):
                yield entry
                wrong = _wrong_time_entry(entry, last, log)
                if wrong:
                    yield Problem(
                        f"{file.path}: {entry.timestamp} at offset {entry.offset} {wrong}"
                    )
                last = entry


def verify_transaction_index(disk: Disk, file: KnownFile) -> Iterator[Row]:
    with open_transaction_index(disk, file) as index:
        yield from _sanity(index)
        yield from index.entries()


def _wrong_offset_entry(entry: OffsetPosition, last: OffsetPosition, log: LogBeside) -> str | None:
    if entry.offset <= last.offset or entry.position <= last.position:
        return f"does not come after {last.offset} at byte {last.position}"
    header = log.skip_to_position(entry.position)
    if header is None or log.position != entry.position:
        return "is not in the log: no batch begins there"
    if header.last_offset != entry.offset:
        return f"names a batch that ends with offset {header.last_offset}"
    return None


def _wrong_time_entry(entry: TimestampOffset, last: TimestampOffset, log: LogBeside) -> str | None:
    if entry.timestamp <= last.timestamp or entry.offset < last.offset:
        return f"does not come after {last.timestamp} at offset {last.offset}"
    header = log.skip_to_offset(entry.offset)
    if header is None or header.last_offset != entry.offset:
        return "is not in the log: no batch ends with that offset"
    try:
        timestamp = log.max_timestamp()
    except ProtocolError as error:
        return f"cannot be checked, because its batch cannot be read: {error}"
    if timestamp != entry.timestamp:
        return f"names a batch whose latest timestamp is {timestamp}"
    return None


def _sanity(index: OffsetIndex | TimeIndex | TransactionIndex) -> Iterator[Problem]:
    try:
        index.sanity_check()
    except CorruptIndexError as error:
        yield Problem(str(error))


def _no_log(file: KnownFile, path: str) -> Problem:
    return Problem(f"{file.path}: there is no {path} to check it against")
