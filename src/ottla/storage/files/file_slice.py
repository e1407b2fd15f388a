"""A stretch of a file that is on its way to somebody: located, not yet read."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.model import Buffer
from ottla.runtime.disk import File

# Less than this is read and sent with what is around it: a copy costs less than a call to the
# kernel.
COPIED_BYTES_MAX = 32 * 1024
_WARM_BYTES = 1 << 20


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
        """The bytes if the page cache has them, else None: then a worker should `warm` it."""
        return self.file.read_cached(self.position, self.size)

    @property
    def is_warm(self) -> bool:
        """Whether sending it will hardly have to wait for the device: both its ends are cached."""
        read_cached, last = self.file.read_cached, self.position + self.size - 1
        return read_cached(self.position, 1) is not None and read_cached(last, 1) is not None

    def warm(self) -> None:
        """Brings the bytes into the page cache. Waits for the device: it is a worker's job."""
        for position in range(self.position, self.position + self.size, _WARM_BYTES):
            self.file.read_at(position, min(_WARM_BYTES, self.position + self.size - position))
