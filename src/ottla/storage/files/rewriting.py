"""Rewrites bytes that may be in the page cache but not on the device.

When a sync fails, Linux reports that once, discards what it could not write, and keeps the pages
marked clean. A reader then sees bytes that are not on the device, and the next sync succeeds
without writing them. A process that is restarted on the same host cannot detect this. So bytes that
are not known to be durable are read and written again, and the next sync is reliable. PostgreSQL
does the same when it replays its log.
"""

from __future__ import annotations

import errno
from posixpath import dirname
from typing import Final

from ottla.runtime.disk import Disk, File

_PIECE_BYTES: Final = 1 << 20


def rewrite(file: File, start: int, end: int) -> None:
    """Rewrites the bytes between two positions. They are durable after the next sync."""
    buffer = memoryview(bytearray(min(_PIECE_BYTES, max(end - start, 0))))
    while start < end:
        piece = buffer[: end - start]
        read = file.read_into(start, [piece])
        if not read:
            return
        start += file.write_at(start, [piece[:read]])


def sync_file(file: File) -> None:
    """Syncs a file. A failure is always raised as EIO, which takes the directory offline: even if
    the disk was only full, the unsynced bytes are lost and the next sync would not report it."""
    try:
        file.sync()
    except OSError as error:
        raise OSError(errno.EIO, f"a sync failed: {error.strerror}", file.path) from error


def rewrite_file(disk: Disk, path: str) -> None:
    """Rewrites a small file. The caller syncs it."""
    file = disk.open(path)
    try:
        rewrite(file, 0, file.size())
    finally:
        file.close()


def renew(disk: Disk, path: str) -> None:
    """Returns when a small file's content and name are on the device."""
    file = disk.open(path)
    try:
        rewrite(file, 0, file.size())
        sync_file(file)
    finally:
        file.close()
    disk.sync_directory(dirname(path))
