"""The copy of one partition: Kafka's segment files in a directory of the backup.

    new ──begin──▶ copying ──append──▶ copying ──close──▶ saved

Batches are written as they were fetched, after their checksums are verified. Each run begins a new
file, so the files of a finished backup do not change while a later run adds to them. A run that was
interrupted leaves files that the next one continues, up to the last whole batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crc32c import crc32c

from ottla.cli.backup.manifest import SavedFile, SavedPartition
from ottla.cli.backup.settling import Erasure, TransactionScan
from ottla.model import NO_LEADER_EPOCH, Buffer, Uuid
from ottla.runtime.disk import Disk
from ottla.storage.directories.partition_metadata import (
    read_partition_metadata,
    write_partition_metadata,
)
from ottla.storage.errors import CorruptCheckpointError, CorruptLogError
from ottla.storage.files.file_names import FileKind, SegmentFileName
from ottla.storage.segments.batch_scan import scan_batches
from ottla.wire.errors import ProtocolError
from ottla.wire.records import ControlRecordType, iterate_batches, verify_crc
from ottla.wire.records.control import read_marker_batch
from ottla.wire.records.header import BatchHeader

# Kafka's default size of a segment.
FILE_BYTES_MAX: Final = 1 << 30


class PartitionCopy:
    """Owned by one run of the backup."""

    def __init__(self, disk: Disk, root: str, directory: str, topic_id: Uuid) -> None:
        self.topic_id = topic_id
        self.directory = directory
        self.scan = TransactionScan()
        # None until the log start offset is known.
        self.position: int | None = None
        self.log_start_offset = 0
        # Of the last batch.
        self.leader_epoch: int = NO_LEADER_EPOCH
        # Whether the leader may have other records than an earlier run copied.
        self.is_resumed = False
        self._disk = disk
        self._path = f"{root}/{directory}"
        self._files: list[SavedFile] = []
        self._is_growing = False
        self._unsynced: set[str] = set()
        # Called with each batch that is appended.
        self.on_batch: Callable[[Buffer], None] | None = None

    @property
    def size(self) -> int:
        return sum(file.size for file in self._files)

    def begin(self, log_start_offset: int) -> None:
        """Starts a new copy."""
        assert self.position is None
        self._disk.make_directories(self._path)
        write_partition_metadata(self._disk, self._path, self.topic_id)
        self.position = self.log_start_offset = log_start_offset

    def resume(self, saved: SavedPartition | None) -> bool:
        """Continues the files in the directory; `saved` is from the last finished backup. False if
        they cannot be continued."""
        try:
            if not self._disk.exists(self._path) or self.topic_id != read_partition_metadata(
                self._disk, self._path
            ):
                return False
        except CorruptCheckpointError:
            return False
        known = () if saved is None else saved.files
        if saved is not None:
            if any(self._size(file.name) != file.size for file in known):
                return False
            self._files = list(known)
            self.scan = TransactionScan(saved.opened)
            self.position = saved.log_end_offset
            self.log_start_offset = saved.log_start_offset
            self.leader_epoch = saved.leader_epoch
        names = [name for name in self._disk.list_directory(self._path) if _is_log(name)]
        for name in names[len(known) :]:
            self._take_file(name)
        self.is_resumed = self.position is not None
        return self.is_resumed

    def append(self, records: memoryview, end: int) -> int:
        """Writes the complete batches below an offset, and returns their bytes. Raises
        `ProtocolError` for a corrupt batch, after the batches before it are written."""
        assert self.position is not None
        first: int | None = None
        written = 0
        try:
            for at, header in iterate_batches(records):
                if header.next_offset <= self.position:
                    continue
                if header.base_offset >= end:
                    break
                verify_crc(records, at, header)
                if first is None:
                    first = at
                    base_offset = header.base_offset
                self._take(header, records[at : at + header.size_in_bytes])
                written = at + header.size_in_bytes
        finally:
            if first is not None:
                self._write(records[first:written], base_offset)
        return 0 if first is None else written - first

    def sync(self) -> None:
        for name in sorted(self._unsynced):
            file = self._disk.open(f"{self._path}/{name}")
            try:
                file.sync()
            finally:
                file.close()
        self._unsynced.clear()
        self._disk.sync_directory(self._path)

    def saved(self, erased: tuple[Erasure, ...]) -> SavedPartition:
        assert self.position is not None
        return SavedPartition(
            self.topic_id,
            self.directory,
            min(self.log_start_offset, self.position),
            self.position,
            self.leader_epoch,
            tuple(self._files),
            tuple(self.scan.opened.values()),
            erased,
        )

    def _write(self, data: memoryview, base_offset: int) -> None:
        if not self._is_growing or self._files[-1].size + len(data) > FILE_BYTES_MAX:
            name = str(SegmentFileName(base_offset, FileKind.LOG))
            self._files.append(SavedFile(name, 0, 0))
            self._is_growing = True
        last = self._files[-1]
        file = self._disk.open(f"{self._path}/{last.name}", create=True)
        try:
            file.write_at(last.size, [data])
        finally:
            file.close()
        self._files[-1] = SavedFile(last.name, last.size + len(data), crc32c(data, last.crc))
        self._unsynced.add(last.name)

    def _take(self, header: BatchHeader, batch: Buffer) -> None:
        is_commit = header.is_transactional and header.is_control and _is_commit(batch)
        self.scan.take(header, is_commit=is_commit)
        self.position, self.leader_epoch = header.next_offset, header.leader_epoch
        if self.on_batch is not None:
            self.on_batch(batch)

    def _take_file(self, name: str) -> None:
        """Reads a file of an interrupted run, and cuts off a batch that is not whole."""
        path = f"{self._path}/{name}"
        file = self._disk.open(path)
        crc = end = 0
        try:
            try:
                for at, header, batch in scan_batches(file, 0, file.size()):
                    verify_crc(batch, 0, header)
                    if self.position is None:
                        self.log_start_offset = header.base_offset
                    self._take(header, batch)
                    crc, end = crc32c(batch, crc), at + header.size_in_bytes
            except (CorruptLogError, ProtocolError):
                file.truncate(end)
        finally:
            file.close()
        if end:
            self._files.append(SavedFile(name, end, crc))
            self._unsynced.add(name)
        else:
            self._disk.remove(path)

    def _size(self, name: str) -> int | None:
        path = f"{self._path}/{name}"
        return self._disk.file_size(path) if self._disk.exists(path) else None


def _is_commit(batch: Buffer) -> bool:
    return read_marker_batch(batch).type is ControlRecordType.COMMIT


def _is_log(name: str) -> bool:
    parsed = SegmentFileName.parse(name)
    return parsed is not None and parsed == SegmentFileName(parsed.base_offset, FileKind.LOG)
