"""Writing again what may be in the page cache and nowhere else.

When a sync fails, Linux reports that once, drops what it could not write, and keeps the pages as if
they were clean: whoever reads them sees bytes that are not on the device, and the next sync
succeeds without writing them. A process that starts on the same running host cannot tell. So what
is not known to be safe is written again as it was read, and the sync after that means what it says.
PostgreSQL does the same when it replays its log.
"""

from __future__ import annotations

import errno
from posixpath import dirname
from typing import Final

from ottla.runtime.disk import Disk, File

_PIECE_BYTES: Final = 1 << 20


def rewrite(file: File, start: int, end: int) -> None:
    """Writes the bytes between two positions again. They are durable after the next sync."""
    buffer = memoryview(bytearray(min(_PIECE_BYTES, max(end - start, 0))))
    while start < end:
        piece = buffer[: end - start]
        read = file.read_into(start, [piece])
        if not read:
            return
        start += file.write_at(start, [piece[:read]])


def sync_file(file: File) -> None:
    """Syncs, and if that fails says so with an error after which nobody goes on: even where the
    disk was merely full, what was to be written is lost, and the next sync would not tell."""
    try:
        file.sync()
    except OSError as error:
        raise OSError(errno.EIO, f"a sync failed: {error.strerror}", file.path) from error


def rewrite_file(disk: Disk, path: str) -> None:
    """Writes a small file again, for somebody else to sync."""
    file = disk.open(path)
    try:
        rewrite(file, 0, file.size())
    finally:
        file.close()


def renew(disk: Disk, path: str) -> None:
    """Returns when what a small file says is on the device, its name included."""
    file = disk.open(path)
    try:
        rewrite(file, 0, file.size())
        sync_file(file)
    finally:
        file.close()
    disk.sync_directory(dirname(path))
