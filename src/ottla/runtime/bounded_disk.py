"""Any number of open files over a limited number of file descriptors.

A broker has thousands of segments, each with its indexes, and most are rarely read. A file here
keeps its descriptor while it is among the most recently used. Otherwise it closes the descriptor,
and opens the file again under its current name at the next use.

Closing the descriptor of a file with unsynced bytes loses nothing on Linux. Dirty pages belong to
the file, not to a descriptor, and `fdatasync` through any descriptor writes all of them. A
writeback error in between is reported as well: since Linux 4.17 a descriptor opened later still
gets an error that no other descriptor has received ("errseq: Always report a writeback error once",
made for PostgreSQL, which syncs this way). One case remains: if the kernel also evicts the failed
file's inode from memory before the sync, the error is never reported.

A file follows its name. After a rename it opens again under the new name. After it was removed or
replaced it cannot be opened again, so it keeps its descriptor until it is closed. This works for
renames and removals through this disk only; other programs must not rename or remove its files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ottla.runtime.bounded_file import BoundedFile
from ottla.runtime.disk import Disk, File
from ottla.runtime.open_files import OpenFiles


class BoundedDisk:
    """A disk whose files together use at most `descriptors` descriptors of the disk below.

    It exceeds the limit only while more files are in use at the same time. Locks and files without
    a name are not counted. Thread-safe. A pickled copy has the same limit and no files.
    """

    def __init__(self, disk: Disk, *, descriptors: int) -> None:
        assert descriptors > 0, "a file needs a descriptor to be read"
        self._disk = disk
        self._files = OpenFiles(disk, descriptors)

    def __reduce__(self) -> tuple[partial[BoundedDisk], tuple[Disk]]:
        return partial(BoundedDisk, descriptors=self._files.limit), (self._disk,)

    def open(self, path: str, *, create: bool = False) -> BoundedFile:
        return self._files.open(path, is_writable=True, create=create)

    def open_readonly(self, path: str) -> BoundedFile:
        return self._files.open(path, is_writable=False)

    def open_private(self, path: str) -> File:
        """Returns the lower disk's file, which is not counted."""
        return self._disk.open_private(path)

    def exists(self, path: str) -> bool:
        return self._disk.exists(path)

    def file_size(self, path: str) -> int:
        return self._disk.file_size(path)

    def list_directory(self, path: str) -> list[str]:
        return self._disk.list_directory(path)

    def is_directory(self, path: str) -> bool:
        return self._disk.is_directory(path)

    def make_directories(self, path: str) -> None:
        self._disk.make_directories(path)

    def rename(self, old: str, new: str) -> None:
        self._files.rename(old, new)

    def remove(self, path: str) -> None:
        self._files.remove(path)

    def remove_directory(self, path: str) -> None:
        self._disk.remove_directory(path)

    def sync_directory(self, path: str) -> None:
        self._disk.sync_directory(path)

    def sync_directories(self, paths: Sequence[str]) -> None:
        self._disk.sync_directories(paths)

    def space_left(self, path: str) -> int:
        return self._disk.space_left(path)

    def space_total(self, path: str) -> int:
        return self._disk.space_total(path)

    def lock(self, path: str) -> File:
        """Returns the lower disk's file, because closing the descriptor would release the lock."""
        return self._disk.lock(path)
