"""A stretch of a file that is on its way to somebody: located, not yet read."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.model import Buffer
from ottla.runtime.disk import File


@dataclass(frozen=True, slots=True)
class FileSlice:
    """Valid while its segment is; a deleted segment stays readable for `file.delete.delay.ms`.

    As long as its bytes, so that a response can carry one where it would carry a buffer.
    """

    file: File
    position: int
    size: int

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        return self.file.read_at(self.position, self.size)

    def read_cached(self) -> Buffer | None:
        """The bytes if the page cache has them, else None: then a worker should `read`."""
        return self.file.read_cached(self.position, self.size)
