"""Replaces small files atomically: after a crash a file has its old content or its new one.

The new content is written to a temporary file and synced before the rename, and the directory is
synced after it. Kafka omits the last step, so that a crash may bring back the old content.
"""

from __future__ import annotations

from posixpath import dirname

from ottla.runtime.disk import Disk, File


def read_file(disk: Disk, path: str) -> bytes | None:
    """The whole file, or None if it does not exist."""
    if not disk.exists(path):
        return None
    file = disk.open_readonly(path)
    try:
        return file.read_at(0, file.size())
    finally:
        file.close()


def replace_file(disk: Disk, path: str, content: bytes) -> None:
    """Returns when `content` is durable at `path`. Uses a temporary file `.tmp`, as Kafka does."""
    file = _write_beside(disk, path, content)
    try:
        file.sync()
    finally:
        file.close()
    finish_replacing(disk, path)
    disk.sync_directory(dirname(path))


def begin_replacing(disk: Disk, path: str, content: bytes) -> None:
    """The first half, for callers that replace many files. They sync the content before
    `finish_replacing`, and the directory after it."""
    _write_beside(disk, path, content).close()


def finish_replacing(disk: Disk, path: str) -> None:
    disk.rename(f"{path}.tmp", path)


def _write_beside(disk: Disk, path: str, content: bytes) -> File:
    file = disk.open(f"{path}.tmp", create=True)
    try:
        file.truncate(0)  # An earlier attempt may have left a longer file.
        file.write_at(0, [content])
    except BaseException:
        file.close()
        raise
    return file


def remove_file(disk: Disk, path: str) -> None:
    """Removes the file durably. A missing file is not an error."""
    if disk.exists(path):
        disk.remove(path)
    disk.sync_directory(dirname(path))


def make_directories(disk: Disk, path: str) -> None:
    """Creates the directory and its missing parents durably."""
    if path and not disk.is_directory(path):
        make_directories(disk, dirname(path))
        disk.make_directories(path)
        disk.sync_directory(dirname(path) or ".")
