"""From a file to its rows, whatever kind it is of."""

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
    """What somebody wants to see of files.

    Without a format, a topic's name tells how its records are written. The limit counts batches, or
    records in a deep reading, or entries, and begins anew with each file.
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
    """The rows of a file, one at a time. What cannot be read is a `Problem` among them.

    A device that fails raises `OSError`.
    """
    rows = with_problems(_rows(disk, file, reading, watch))
    return rows if reading.limit is None else _limited(rows, reading.limit, deep=reading.deep)


def with_problems(rows: Iterator[Row]) -> Iterator[Row]:
    """Rows whose iterator may give up: the reason becomes their last one."""
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
    """Problems do not count, and in a deep reading batches do not either."""
    free = (Problem, Remark, BatchRow) if deep else (Problem, Remark)
    left = limit
    for row in rows:
        yield row
        left -= not isinstance(row, free)
        if left == 0:
            return
