"""Reads the rows of a file of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from ottla.dump import index_rows, small_files
from ottla.dump.files import LOGS, Kind, KnownFile
from ottla.dump.log_rows import Watch, log_rows
from ottla.dump.rows import BatchRow, Problem, Remark, Row
from ottla.dump.selection import EVERYTHING, Selection
from ottla.dump.stored_records import FORMAT_OF_TOPIC, StoredRecordFormat
from ottla.runtime.disk import Disk
from ottla.storage.errors import CorruptLogError, StorageError


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read from files.

    Without `record_format` it is derived from the topic's name. `limit` counts batches (records if
    `deep`) or index entries, for each file separately.
    """

    selection: Selection = EVERYTHING
    deep: bool = False
    record_format: StoredRecordFormat | None = None
    limit: int | None = None


_INDEXES: Final[dict[Kind, Callable[[Disk, KnownFile, Selection], Iterator[Row]]]] = {
    Kind.OFFSET_INDEX: index_rows.offset_index_rows,
    Kind.TIME_INDEX: index_rows.time_index_rows,
    Kind.TRANSACTION_INDEX: index_rows.transaction_index_rows,
}
_SMALL_FILES: Final[dict[Kind, Callable[[Disk, KnownFile], Iterator[Row]]]] = {
    Kind.PRODUCER_SNAPSHOT: small_files.producer_rows,
    Kind.LEADER_EPOCHS: small_files.leader_epoch_rows,
    Kind.OFFSET_CHECKPOINT: small_files.partition_offset_rows,
    Kind.PARTITION_METADATA: small_files.partition_metadata_rows,
    Kind.META_PROPERTIES: small_files.meta_properties_rows,
    Kind.CLEAN_SHUTDOWN: small_files.clean_shutdown_rows,
    Kind.QUORUM_STATE: small_files.quorum_state_rows,
}


def read_rows(
    disk: Disk, file: KnownFile, reading: Reading, watch: Watch | None = None
) -> Iterator[Row]:
    """The rows of a file, read lazily. Unreadable data is reported as `Problem` rows.

    I/O errors raise `OSError`.
    """
    rows = with_problems(_rows(disk, file, reading, watch))
    return rows if reading.limit is None else _limited(rows, reading.limit, deep=reading.deep)


def with_problems(rows: Iterator[Row]) -> Iterator[Row]:
    """Converts a storage error that ends the iterator into a last `Problem` row."""
    try:
        yield from rows
    except CorruptLogError as error:
        yield Problem(str(error), error.position)
    except StorageError as error:
        yield Problem(str(error))


def record_format_of(file: KnownFile) -> StoredRecordFormat | None:
    if file.kind is Kind.METADATA_SNAPSHOT:
        return StoredRecordFormat.METADATA
    return FORMAT_OF_TOPIC.get(file.topic or "")


def _rows(disk: Disk, file: KnownFile, reading: Reading, watch: Watch | None) -> Iterator[Row]:
    if file.kind in LOGS:
        with closing(disk.open_readonly(file.path)) as log:
            yield from log_rows(
                log,
                reading.selection,
                deep=reading.deep,
                record_format=reading.record_format or record_format_of(file),
                watch=watch,
            )
    elif file.kind in _INDEXES:
        yield from _INDEXES[file.kind](disk, file, reading.selection)
    else:
        yield from _SMALL_FILES[file.kind](disk, file)


def _limited(rows: Iterator[Row], limit: int, *, deep: bool) -> Iterator[Row]:
    """At most `limit` rows. Problems and remarks do not count, nor do batches if `deep`."""
    free = (Problem, Remark, BatchRow) if deep else (Problem, Remark)
    left = limit
    for row in rows:
        yield row
        left -= not isinstance(row, free)
        if left == 0:
            return
