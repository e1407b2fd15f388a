"""Any number of open files over a bounded number of descriptors.

A broker has thousands of segments, each with its indexes, and most of them are asked for nothing.
A file here keeps its descriptor while it is among the last that were used; otherwise it gives it
up and opens again, under its name of that moment, when it is next used.

Giving up the descriptor of a file with unsynced bytes loses nothing on Linux. Dirty pages belong
to the file, not to the descriptor that wrote them, and `fdatasync` through any descriptor writes
all of them. An error met while writing back in between is reported as well: since Linux 4.17 a
descriptor opened later still gets an error that nobody was told of ("errseq: Always report a
writeback error once", made for PostgreSQL, which syncs like this). What is left is the case that
the kernel also dropped the failed file's inode from memory before the sync: then nobody learns.

What is open follows its names: a renamed file opens again under its new one, and a file that was
removed or replaced can never be opened again, so it keeps its descriptor until it is closed. That
holds for renames and removals made through this disk; no other program may make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ottla.runtime.bounded_file import BoundedFile
from ottla.runtime.disk import Disk, File
from ottla.runtime.open_files import OpenFiles


class BoundedDisk:
    """A disk whose files together hold at most `descriptors` descriptors of the disk below.

    More only while so many are in use at the same moment; locks and files without a name count on
    top. May be used by several threads. A pickled one arrives with the same bound and no files.
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
        """The lower disk's own file: a lock goes with its descriptor, so that is never given up."""
        return self._disk.lock(path)
