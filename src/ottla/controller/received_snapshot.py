"""A snapshot that is being downloaded from the leader, and gets its final name when complete."""

from __future__ import annotations

from posixpath import dirname

from ottla.controller.snapshot_file import PARTIAL_SUFFIX, SUFFIX
from ottla.model import Buffer
from ottla.runtime.disk import Disk


class ReceivedSnapshot:
    """The file has another name until `complete`; after a crash the next start deletes it."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self.partial_path = path.removesuffix(SUFFIX) + PARTIAL_SUFFIX
        self._file = disk.open(self.partial_path, create=True)
        self._file.truncate(0)

    def write(self, position: int, data: Buffer) -> None:
        self._file.write_at(position, [data])

    def complete(self) -> None:
        """Returns once the file is durable."""
        self._file.sync()
        self._file.close()
        self._disk.rename(self.partial_path, self._path)
        self._disk.sync_directory(dirname(self._path))

    def discard(self) -> None:
        self._file.close()
        self._disk.remove(self.partial_path)
