"""Writes the log of one partition from its files in a backup.

Only segments are written: the first start of the node recovers the log as after a crash, and
rebuilds its indexes, leader epochs and producer snapshots.
"""

from __future__ import annotations

from crc32c import crc32c

from ottla.cli.backup.manifest import SavedFile, SavedPartition
from ottla.cli.backup.settling import Erasing, erased_batch
from ottla.cli.exit_codes import CommandError
from ottla.model import Buffer
from ottla.runtime.disk import Disk, File
from ottla.storage.directories.partition_metadata import write_partition_metadata
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import FileKind, SegmentFileName
from ottla.storage.segments.batch_scan import BATCHES_READ_BYTES, scan_batches


def restore_log(disk: Disk, source: str, target: str, saved: SavedPartition) -> None:
    """Writes the directory `target`, durably. Raises `CommandError` for damaged files."""
    disk.make_directories(target)
    write_partition_metadata(disk, target, saved.topic_id)
    erasing = Erasing(saved.erased)
    for file in saved.files:
        _restore_file(disk, source, target, file, erasing)
    if not saved.files:
        name = SegmentFileName(saved.log_end_offset, FileKind.LOG)
        disk.open(f"{target}/{name}", create=True).close()
    disk.sync_directory(target)


def _restore_file(disk: Disk, source: str, target: str, saved: SavedFile, erasing: Erasing) -> None:
    path = f"{source}/{saved.name}"
    file = disk.open_readonly(path)
    try:
        copy = disk.open(f"{target}/{saved.name}", create=True)
        try:
            crc = _restore_batches(file, copy, saved.size, erasing)
            copy.sync()
        finally:
            copy.close()
    except CorruptLogError as error:
        raise _damaged(str(error)) from None
    finally:
        file.close()
    if crc != saved.crc:
        raise _damaged(f"the checksum of {path} is wrong")


def _restore_batches(file: File, copy: File, size: int, erasing: Erasing) -> int:
    """Returns the checksum of what was read."""
    crc = position = waiting_bytes = 0
    waiting: list[Buffer] = []
    for _, header, batch in scan_batches(file, 0, size):
        crc = crc32c(batch, crc)
        # The view is valid until the next batch.
        restored = erased_batch(header) if erasing.erases(header) else bytes(batch)
        waiting.append(restored)
        waiting_bytes += len(restored)
        if waiting_bytes >= BATCHES_READ_BYTES:
            position += copy.write_at(position, waiting)
            waiting, waiting_bytes = [], 0
    copy.write_at(position, waiting)
    return crc


def _damaged(reason: str) -> CommandError:
    return CommandError(
        f"The backup is damaged: {reason}.",
        "`ottla backup --verify DIR` lists all damaged files. Empty the directories of this node "
        "before restoring another backup.",
    )
