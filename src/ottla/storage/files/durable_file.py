"""Small files that are replaced as a whole, so that a crash leaves the old content or the new.

The new content is written beside the file and synced before it takes its name, and the directory is
synced after. Kafka leaves that last step out, and a crash may then bring the old content back.
"""

from __future__ import annotations

from posixpath import dirname

from ottla.runtime.disk import Disk, File


def read_file(disk: Disk, path: str) -> bytes | None:
    """All of a file, or None where there is none."""
    if not disk.exists(path):
        return None
    file = disk.open_readonly(path)
    try:
        return file.read_at(0, file.size())
    finally:
        file.close()


def replace_file(disk: Disk, path: str, content: bytes) -> None:
    """Returns when `content` is what any crash leaves at `path`. Kafka's `.tmp` is on the way."""
    file = _write_beside(disk, path, content)
    try:
        file.sync()
    finally:
        file.close()
    finish_replacing(disk, path)
    disk.sync_directory(dirname(path))


def begin_replacing(disk: Disk, path: str, content: bytes) -> None:
    """The first half, for who replaces many: the content is to be synced before `finish_replacing`,
    and the directory after it."""
    _write_beside(disk, path, content).close()


def finish_replacing(disk: Disk, path: str) -> None:
    disk.rename(f"{path}.tmp", path)


def _write_beside(disk: Disk, path: str, content: bytes) -> File:
    file = disk.open(f"{path}.tmp", create=True)
    try:
        file.truncate(0)  # An earlier attempt may have left more than there is to write now.
        file.write_at(0, [content])
    except BaseException:
        file.close()
        raise
    return file


def remove_file(disk: Disk, path: str) -> None:
    """Returns when no crash brings the file back. One that is not there is removed already."""
    if disk.exists(path):
        disk.remove(path)
    disk.sync_directory(dirname(path))


def make_directories(disk: Disk, path: str) -> None:
    """Returns when no crash undoes the directory, or any above it that was missing."""
    if path and not disk.is_directory(path):
        make_directories(disk, dirname(path))
        disk.make_directories(path)
        disk.sync_directory(dirname(path) or ".")
