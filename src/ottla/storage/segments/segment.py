"""One segment of a log: a `.log` file and its indexes, named by its base offset.

Only the last segment of a log is appended to. A segment opens each file on first use, so a log of a
thousand segments costs a thousand small objects and no file descriptors.

Nothing is on the device until `sync`. `flush` writes buffered index entries to their files, on the
owner's thread; `sync` may then run on a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from ottla.model import NO_TIMESTAMP, Buffer
from ottla.runtime.disk import Disk, File
from ottla.storage.errors import CorruptIndexError, StorageError
from ottla.storage.files.file_names import FileKind, FileState, SegmentFileName
from ottla.storage.files.rewriting import rewrite, sync_file
from ottla.storage.indexes.offset_index import RELATIVE_OFFSET_MAX, OffsetIndex
from ottla.storage.indexes.time_index import TimeIndex, TimestampOffset
from ottla.storage.indexes.transaction_index import TransactionIndex
from ottla.storage.log_config import LogConfig
from ottla.storage.segments.batch_scan import LocatedBatch, scan_headers
from ottla.wire.records.header import LENGTH_PREFIX_BYTES, BatchHeader

SEGMENT_FILE_KINDS = (
    FileKind.LOG,
    FileKind.OFFSET_INDEX,
    FileKind.TIME_INDEX,
    FileKind.TRANSACTION_INDEX,
)


class BatchPlace(NamedTuple):
    """The offsets of a batch, and its place in the file."""

    base_offset: int
    last_offset: int
    position: int
    size: int


Index = TypeVar("Index", OffsetIndex, TimeIndex)
# Recent batches, so that a read at the end of the log needs no index lookup.
_RECENT_MAX = 64
_NONE_RECENT: list[BatchPlace] = []
_new_place: Callable[[type[BatchPlace], tuple[int, ...]], BatchPlace] = tuple.__new__
_new_latest: Callable[[type[TimestampOffset], tuple[int, ...]], TimestampOffset] = tuple.__new__


class Segment:
    """Owned by one log and used from its thread; `sync` alone may run on a worker."""

    __slots__ = (
        "_bytes_since_index_entry",
        "_directory",
        "_disk",
        "_is_synced",
        "_log_file",
        "_max_timestamp",
        "_name_is_durable",
        "_offset_index",
        "_recent",
        "_time_index",
        "_transaction_index",
        "base_offset",
        "config",
        "created_ms",
        "first_timestamp",
        "index_room",
        "size",
        "state",
    )

    def __init__(
        self,
        disk: Disk,
        directory: str,
        base_offset: int,
        config: LogConfig,
        *,
        created_ms: int,
        state: FileState = FileState.LIVE,
    ) -> None:
        self.base_offset = base_offset
        self.created_ms = created_ms
        self.state = state
        self.size = 0
        # The timestamp of the first batch; `segment.ms` counts from it.
        self.first_timestamp: int | None = None
        self._disk = disk
        self._directory = directory
        self.config = config
        self._bytes_since_index_entry = 0
        # A lower bound of the free index entries. Computed again when it reaches 0.
        self.index_room = 0
        self._max_timestamp: TimestampOffset | None = None
        self._log_file: File | None = None
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._transaction_index: TransactionIndex | None = None
        self._is_synced = self._name_is_durable = False
        self._recent: list[BatchPlace] = _NONE_RECENT

    @classmethod
    def create(
        cls,
        disk: Disk,
        directory: str,
        base_offset: int,
        config: LogConfig,
        *,
        created_ms: int,
        state: FileState = FileState.LIVE,
    ) -> Segment:
        """Creates an empty segment. Empties files that a crash left under its names."""
        segment = cls(disk, directory, base_offset, config, created_ms=created_ms, state=state)
        try:
            segment._begin_empty()
        except OSError:
            # A left-over empty file with a higher base offset would look like the last segment.
            with suppress(OSError):
                segment.remove()
                disk.sync_directory(directory)
            raise
        return segment

    def _begin_empty(self) -> None:
        self._log_file = self._disk.open(self.path(FileKind.LOG), create=True)
        files = (self._log_file, self.offset_index.file, self.time_index.file)
        # Empty files hold nothing to sync but their directory entries.
        self._is_synced = not (any(each.size() for each in files) or self.config.preallocate)
        if self._log_file.size():
            self._log_file.truncate(0)
        if self.config.preallocate:
            self._log_file.preallocate(self.config.segment_bytes)
        for index in self._indexes():
            index.truncate()
        self._max_timestamp = TimestampOffset(NO_TIMESTAMP, self.base_offset)

    @classmethod
    def open(
        cls,
        disk: Disk,
        directory: str,
        base_offset: int,
        config: LogConfig,
        *,
        created_ms: int,
        state: FileState = FileState.LIVE,
        is_synced: bool = False,
    ) -> Segment:
        """Opens an existing segment. Its indexes are opened on first use."""
        segment = cls(disk, directory, base_offset, config, created_ms=created_ms, state=state)
        segment.size = disk.file_size(segment.path(FileKind.LOG))
        segment._name_is_durable = True
        segment._is_synced = is_synced
        return segment

    def path(self, kind: FileKind) -> str:
        return f"{self._directory}/{SegmentFileName(self.base_offset, kind, self.state)}"

    @property
    def log_file(self) -> File:
        if self._log_file is None:
            self._log_file = self._disk.open(self.path(FileKind.LOG))
        return self._log_file

    @property
    def offset_index(self) -> OffsetIndex:
        if self._offset_index is None:
            self._offset_index = self._open_index(OffsetIndex, FileKind.OFFSET_INDEX)
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            self._time_index = self._open_index(TimeIndex, FileKind.TIME_INDEX)
        return self._time_index

    def _open_index(self, index: type[Index], kind: FileKind) -> Index:
        return index(
            self._disk.open(self.path(kind), create=True),
            base_offset=self.base_offset,
            entries_max=self.config.segment_index_bytes // index.ENTRY.size,
        )

    @property
    def transaction_index(self) -> TransactionIndex:
        if self._transaction_index is None:
            self._transaction_index = TransactionIndex(
                self._disk, self.path(FileKind.TRANSACTION_INDEX), start_offset=self.base_offset
            )
        return self._transaction_index

    @property
    def max_timestamp(self) -> TimestampOffset:
        """The latest timestamp, and the last offset of the first batch that has it."""
        if self._max_timestamp is None:
            self._max_timestamp = self.time_index.last_entry
        return self._max_timestamp

    @property
    def is_index_full(self) -> bool:
        """Computes the free entries of both indexes. The append path checks `index_room` first."""
        if self.index_room <= 0:
            self.index_room = min(self.offset_index.room, self.time_index.room)
        return self.index_room <= 0

    def can_hold(self, offset: int) -> bool:
        """Whether an offset fits the index format, relative to this segment's base offset."""
        return 0 <= offset - self.base_offset <= RELATIVE_OFFSET_MAX

    def append(self, buffers: Sequence[Buffer], headers: Sequence[BatchHeader]) -> None:
        """Writes whole batches in one call. If that fails, the segment is unchanged."""
        position = self.size
        file = self._log_file or self.log_file
        try:
            self.size = position + file.write_at(position, buffers)
        except OSError:
            # Partially written batches would look valid when the log is opened again.
            with suppress(OSError):
                self.log_file.truncate(position)
            self._is_synced = False
            self.sync()
            raise
        recent = self._recent or self._begin_recent()
        for header in headers:
            size = header.batch_length + LENGTH_PREFIX_BYTES
            last_offset = header.base_offset + header.last_offset_delta
            recent.append(_new_place(BatchPlace, (header.base_offset, last_offset, position, size)))
            self.index_batch(last_offset, header.max_timestamp, size, position)
            position += size
        if len(recent) > 2 * _RECENT_MAX:
            del recent[:-_RECENT_MAX]
        self._is_synced = False
        assert position == self.size, "the batches do not add up to the bytes written"

    def _begin_recent(self) -> list[BatchPlace]:
        """Creates the list on the first append: most segments are never appended to."""
        self._recent = []
        return self._recent

    def index_batch(self, last_offset: int, max_timestamp: int, size: int, position: int) -> None:
        """Records a batch at `position`; adds an index entry every `index.interval.bytes`."""
        if max_timestamp > (self._max_timestamp or self.max_timestamp).timestamp:
            self._max_timestamp = _new_latest(TimestampOffset, (max_timestamp, last_offset))
        if self.first_timestamp is None:
            self.first_timestamp = max_timestamp
        if self._bytes_since_index_entry > self.config.index_interval_bytes:
            if self.index_room > 0 or not self.is_index_full:
                timestamp, offset = self.max_timestamp
                self.offset_index.append(offset=last_offset, position=position)
                self.time_index.maybe_append(timestamp=timestamp, offset=offset)
                self.index_room -= 1
            self._bytes_since_index_entry = 0
        self._bytes_since_index_entry += size

    def find(self, offset: int) -> BatchPlace | None:
        """Finds the first batch that ends at `offset` or later."""
        found = None
        for place in reversed(self._recent):
            if place.last_offset < offset:
                return found
            found = place
            if place.base_offset <= offset:
                return found
        located = self.locate(offset)
        if located is None:
            return None
        position, header = located
        return BatchPlace(header.base_offset, header.last_offset, position, header.size_in_bytes)

    def locate(self, offset: int) -> LocatedBatch | None:
        """Finds the first batch that ends at `offset` or later, in the files."""
        start = self.offset_index.lookup(offset).position
        for position, header in scan_headers(self.log_file, start, self.size):
            if header.last_offset >= offset:
                return LocatedBatch(position, header)
        return None

    def headers(self) -> Iterator[tuple[int, BatchHeader]]:
        """The position and header of every batch."""
        return scan_headers(self.log_file, 0, self.size)

    def next_offset(self) -> int:
        """The offset after the last batch, read from the files."""
        found = self.base_offset
        start = self.offset_index.last_entry.position if self.size else 0
        for _, header in scan_headers(self.log_file, start, self.size):
            found = header.next_offset
        return found

    def locate_timestamp(self, timestamp: int, *, start_offset: int) -> LocatedBatch | None:
        """Finds the first batch that may hold a record at `start_offset` or later with `timestamp`
        or a later one."""
        indexed = max(self.time_index.lookup(timestamp).offset, start_offset)
        start = self.offset_index.lookup(indexed).position
        for position, header in scan_headers(self.log_file, start, self.size):
            if header.max_timestamp >= timestamp and header.last_offset >= start_offset:
                return LocatedBatch(position, header)
        return None

    def read_first_timestamp(self) -> int:
        """Reads the first batch's timestamp and remembers it. The segment must not be empty."""
        _, header = next(scan_headers(self.log_file, 0, self.size))
        self.first_timestamp = header.max_timestamp
        return self.first_timestamp

    def truncate_at(self, position: int, offset: int) -> None:
        """Truncates the log at a position and the indexes at the offset of that position, durably:
        bytes that came back after a crash would look like those written over them."""
        self.log_file.truncate(position)
        self.size = position
        self._recent = _NONE_RECENT
        for index in self._indexes():
            index.truncate_to(offset)
        self._is_synced = False
        self.sync()
        self._note_tail()

    def _note_tail(self) -> None:
        """Reads the batches after the last index entries."""
        self._bytes_since_index_entry = 0
        self.index_room = 0
        self.first_timestamp = None
        latest = self.time_index.last_entry
        start = self.offset_index.last_entry.position
        for _, header in scan_headers(self.log_file, start, self.size):
            if header.max_timestamp > latest.timestamp:
                latest = TimestampOffset(header.max_timestamp, header.last_offset)
        self._max_timestamp = latest

    def become_inactive(self) -> None:
        """Completes the time index: its last entry becomes the segment's latest timestamp."""
        if self.size:
            latest = self.max_timestamp
            self.time_index.maybe_append(
                timestamp=latest.timestamp, offset=latest.offset, skip_full_check=True
            )
        self.flush()

    def reset_indexes(self) -> None:
        """Empties the indexes, before recovery rebuilds them from the log."""
        for index in self._indexes():
            index.truncate()
        self._is_synced = False
        self._bytes_since_index_entry = 0
        self.index_room = 0
        self.first_timestamp = None
        self._max_timestamp = TimestampOffset(NO_TIMESTAMP, self.base_offset)

    def sanity_check(self) -> None:
        """Raises `CorruptIndexError` if an index is invalid or does not match this log file."""
        for index in self._indexes():
            index.sanity_check()
        last = self.offset_index.last_entry
        if last.position and last.position >= self.size:
            raise CorruptIndexError(
                f"{self.offset_index.file.path} has an entry for byte {last.position}, where its "
                f"log of {self.size} bytes has ended. Truncate it and index its segment again."
            )

    def rewrite_log(self, start: int) -> None:
        """Rewrites the log from a position on, so that the next sync makes it durable."""
        rewrite(self.log_file, start, self.size)
        self._is_synced = False

    def rewrite_indexes(self) -> None:
        for index in self._indexes():
            index.rewrite()
        self._is_synced = False

    def doubt_name(self) -> None:
        """Marks the directory entries of an empty segment as not durable. The first sync after an
        append syncs them."""
        self._is_synced, self._name_is_durable = True, False

    def has_complete_indexes(self) -> bool:
        """Whether the indexes are valid and the time index is complete; see `become_inactive`."""
        try:
            self.sanity_check()
            latest = self.time_index.last_entry
            self._note_tail()
        except StorageError:
            return False
        return self.max_timestamp == latest

    def flush(self) -> None:
        """Writes buffered index entries to their files."""
        for index in self._open_indexes():
            if index.flush():
                self._is_synced = False

    def sync(self) -> None:
        """Returns when everything flushed before is on the device, including the file names.

        Files that are not open need no sync: they have not changed, or their segment was removed.
        """
        log_file, indexes = self._log_file, self._open_indexes()
        # Set before the sync: bytes written during it have to be synced again.
        was_synced, self._is_synced = self._is_synced, True
        try:
            if log_file is not None and not was_synced:
                sync_file(log_file)
            for index in () if was_synced else indexes:
                index.sync()
        except OSError:
            self._is_synced = False
            raise
        if (transaction_index := self._transaction_index) is not None:
            transaction_index.sync()
        if not self._name_is_durable:
            self._disk.sync_directory(self._directory)
            self._name_is_durable = True

    @property
    def needs_sync(self) -> bool:
        index = self._transaction_index
        return not (self._is_synced and self._name_is_durable) or (
            index is not None and index.needs_sync
        )

    def note_synced(self) -> None:
        """Records that all files of the directory and their names are durable, and that nothing was
        written during the sync."""
        self._is_synced = self._name_is_durable = True
        for index in self._open_indexes():
            index.note_synced()
        if self._transaction_index is not None:
            self._transaction_index.note_synced()

    def rename(self, state: FileState) -> None:
        """Gives all files another state suffix. Durable after the directory is synced."""
        names = [kind for kind in SEGMENT_FILE_KINDS if self._disk.exists(self.path(kind))]
        old = {kind: self.path(kind) for kind in names}
        self.state = state
        # The log file is renamed last: until then, the segment counts as the old one.
        for kind in reversed(names):
            self._disk.rename(old[kind], self.path(kind))
        if self._transaction_index is not None:
            self._transaction_index.path = self.path(FileKind.TRANSACTION_INDEX)

    def close(self) -> None:
        for file in (self._log_file, *self._open_indexes(), self._transaction_index):
            if file is not None:
                file.close()
        self._log_file = self._offset_index = self._time_index = self._transaction_index = None

    def remove(self) -> None:
        """Closes and deletes all files."""
        self.close()
        for kind in reversed(SEGMENT_FILE_KINDS):
            if self._disk.exists(self.path(kind)):
                self._disk.remove(self.path(kind))

    def _indexes(self) -> tuple[OffsetIndex, TimeIndex, TransactionIndex]:
        return self.offset_index, self.time_index, self.transaction_index

    def _open_indexes(self) -> list[OffsetIndex | TimeIndex]:
        return [index for index in (self._offset_index, self._time_index) if index is not None]
