"""The batches and records of a log as rows.

Only one batch is in memory at a time. A batch with a wrong checksum or unreadable records is
reported as a problem, and reading continues after it. Reading ends where no valid batch header
follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from ottla.dump.rows import Problem, RecordRow, Row, batch_row
from ottla.dump.secrets import hide_secrets
from ottla.dump.selection import EVERYTHING, Selection
from ottla.dump.stored_records import (
    NOTHING_DECODED,
    Decoded,
    StoredRecordFormat,
    decode_control,
    decode_stored,
)
from ottla.runtime.disk import File
from ottla.storage.errors import CorruptLogError
from ottla.storage.segments.batch_scan import scan_batches, scan_headers
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import compute_crc
from ottla.wire.records.header import HEADER_BYTES, BatchHeader, increment_sequence
from ottla.wire.records.record import Record, iterate_records

_ZEROS_READ_BYTES: Final = 1 << 20

# Called with the position reached so far.
Watch: TypeAlias = Callable[[int], None]


class Batch(NamedTuple):
    """A batch at its position in the file. `data` is valid until the next batch is read."""

    position: int
    header: BatchHeader
    data: memoryview

    def checksum_problem(self, path: str) -> Problem | None:
        computed = compute_crc(self.data, 0, self.header)
        if computed == self.header.crc:
            return None
        return self.problem(
            path,
            f"is corrupt: its CRC-32C is {computed:#010x}, its header says {self.header.crc:#010x}",
        )

    def problem(self, path: str, reason: str) -> Problem:
        header = self.header
        text = f"{path}: the batch at byte {self.position}, offsets {header.base_offset} to"
        return Problem(f"{text} {header.last_offset}, {reason}", self.position)


def walk_log(
    file: File, selection: Selection = EVERYTHING, watch: Watch | None = None
) -> Iterator[Batch]:
    """The batches of a log that overlap the selection. Raises `CorruptLogError` at invalid data."""
    end = file.size()
    try:
        start = _first_position(file, selection, end)
        for position, header, data in scan_batches(file, start, end):
            if header.base_offset > selection.to_offset:
                return
            yield Batch(position, header, data)
            if watch is not None:
                watch(position + header.size_in_bytes)
    except CorruptLogError as error:
        if _only_zeros_from(file, error.position, end):
            raise CorruptLogError(
                file.path,
                position=error.position,
                reason=f"its last {end - error.position} bytes are zeros: preallocated space that "
                "was never used, or a write that was lost in a crash",
            ) from error
        raise


def log_rows(
    file: File,
    selection: Selection,
    *,
    deep: bool,
    record_format: StoredRecordFormat | None,
    watch: Watch | None = None,
) -> Iterator[Row]:
    for batch in walk_log(file, selection, watch):
        problem = batch.checksum_problem(file.path)
        yield batch_row(batch.position, batch.header, is_valid=problem is None)
        if problem is not None:
            yield problem
        elif deep:
            yield from _record_rows(file.path, batch, selection, record_format)


def _record_rows(
    path: str, batch: Batch, selection: Selection, record_format: StoredRecordFormat | None
) -> Iterator[Row]:
    try:
        for record in iterate_records(batch.data):
            if record.offset in selection:
                if record_format is StoredRecordFormat.METADATA and not batch.header.is_control:
                    record = hide_secrets(record)
                yield _record_row(record, batch.header, record_format)
    except ProtocolError as error:
        yield batch.problem(path, f"cannot be read to its end: {error}")


def _record_row(
    record: Record, header: BatchHeader, record_format: StoredRecordFormat | None
) -> RecordRow:
    return RecordRow(
        record.offset,
        record.timestamp,
        _sequence(record, header),
        record.key,
        record.value,
        record.headers,
        *_decoded(record, header, record_format),
    )


def _sequence(record: Record, header: BatchHeader) -> int:
    if header.base_sequence < 0:
        return header.base_sequence
    return increment_sequence(header.base_sequence, by=record.offset - header.base_offset)


def _decoded(
    record: Record, header: BatchHeader, record_format: StoredRecordFormat | None
) -> Decoded:
    if header.is_control:
        return decode_control(record)
    return NOTHING_DECODED if record_format is None else decode_stored(record, record_format)


def _first_position(file: File, selection: Selection, end: int) -> int:
    """The position of the first batch of the selection, found by reading only batch headers."""
    if selection.from_offset <= 0:
        return 0
    for position, header in scan_headers(file, 0, end):
        if header.last_offset >= selection.from_offset:
            return position
    return end


def _only_zeros_from(file: File, position: int, end: int) -> bool:
    if end - position < HEADER_BYTES:
        return False
    for start in range(position, end, _ZEROS_READ_BYTES):
        if any(file.read_at(start, min(_ZEROS_READ_BYTES, end - start))):
            return False
    return True
