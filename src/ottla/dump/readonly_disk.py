"""A read-only disk, for tools that read files which may be in use.

Some of storage's readers open files for reading and writing, because a log does both. With this
disk they cannot change anything.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import NoReturn

from ottla.runtime.disk import Disk, File


class ReadonlyDisk:
    """Passes reads on to another disk and rejects changes. Owns nothing."""

    __slots__ = ("_disk",)

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def open(self, path: str, *, create: bool = False) -> File:
        if create:
            _refuse(path)
        return self._disk.open_readonly(path)

    def open_readonly(self, path: str) -> File:
        return self._disk.open_readonly(path)

    def open_private(self, path: str) -> File:
        _refuse(path)

    def exists(self, path: str) -> bool:
        return self._disk.exists(path)

    def file_size(self, path: str) -> int:
        return self._disk.file_size(path)

    def list_directory(self, path: str) -> list[str]:
        return self._disk.list_directory(path)

    def is_directory(self, path: str) -> bool:
        return self._disk.is_directory(path)

    def space_left(self, path: str) -> int:
        return self._disk.space_left(path)

    def space_total(self, path: str) -> int:
        return self._disk.space_total(path)

    def make_directories(self, path: str) -> None:
        _refuse(path)

    def rename(self, old: str, new: str) -> None:  # noqa: ARG002  nothing is renamed
        _refuse(old)

    def remove(self, path: str) -> None:
        _refuse(path)

    def remove_directory(self, path: str) -> None:
        _refuse(path)

    def sync_directory(self, path: str) -> None:
        _refuse(path)

    def sync_directories(self, paths: Sequence[str]) -> None:
        _refuse(paths[0])

    def lock(self, path: str) -> File:
        _refuse(path)


def _refuse(path: str) -> NoReturn:
    raise OSError(errno.EROFS, "this tool only reads", path)
