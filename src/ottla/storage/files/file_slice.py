"""A range of a file that is to be sent: located, but not yet read."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.model import Buffer
from ottla.runtime.disk import File

# Smaller slices are copied into the response: a copy costs less than another system call.
COPIED_BYTES_MAX = 32 * 1024
_WARM_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FileSlice:
    """Valid while its segment is. A deleted segment stays readable for `file.delete.delay.ms`.

    `len` is its size in bytes, so a response can carry it in place of a buffer. `offset_count` is
    the number of offsets in it; an estimate, unless it ends where the readable part of the segment
    ends.
    """

    file: File
    position: int
    size: int
    offset_count: int = 0

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        return self.file.read_at(self.position, self.size)

    def read_cached(self) -> Buffer | None:
        """The bytes if they are in the page cache, else None: then call `warm` on a worker
        first."""
        return self.file.read_cached(self.position, self.size)

    @property
    def is_warm(self) -> bool:
        """Whether sending it will hardly wait for the device, because both ends are in the page
        cache."""
        read_cached, last = self.file.read_cached, self.position + self.size - 1
        return read_cached(self.position, 1) is not None and read_cached(last, 1) is not None

    def warm(self) -> None:
        """Reads the bytes into the page cache. Waits for the device, so call it on a worker."""
        for position in range(self.position, self.position + self.size, _WARM_BYTES):
            self.file.read_at(position, min(_WARM_BYTES, self.position + self.size - position))


@dataclass(frozen=True, slots=True)
class MemorySlice:
    """Bytes that take the place of a file's range, because they are not those of the file."""

    data: Buffer
    offset_count: int

    @property
    def size(self) -> int:
        return len(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def read(self) -> bytes:
        return bytes(self.data)

    def read_cached(self) -> Buffer:
        return self.data
