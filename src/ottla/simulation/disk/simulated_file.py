"""An open file on a simulated disk."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import Protocol

from ottla.model.buffers import Buffer
from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk_faults import DiskFaults, Operation, canonical
from ottla.simulation.disk.file_content import FileContent

_CLOSED = -1


class FileHost(Protocol):
    """The disk that a file is on: `SimulatedDisk`."""

    generation: int

    @property
    def faults(self) -> DiskFaults: ...

    @property
    def counters(self) -> DiskCounters: ...

    def next_sequence(self) -> int: ...

    def room_left(self) -> int: ...


class SimulatedFile:
    """A handle on a file, valid until it is closed or its process ends."""

    __slots__ = ("_content", "_disk", "_generation", "_on_close", "_path", "_place", "_writable")

    def __init__(
        self,
        disk: FileHost,
        path: str,
        content: FileContent,
        *,
        writable: bool = True,
        on_close: Callable[[FileContent], None] | None = None,
    ) -> None:
        self._disk = disk
        self._path = path
        self._place = canonical(path)
        self._content = content
        self._writable = writable
        self._on_close = on_close
        self._generation = disk.generation

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        self._begin(Operation.LOOKUP)
        return len(self._content.volatile)

    def read_at(self, position: int, length: int) -> bytes:
        self._begin(Operation.READ, position)
        found = bytes(memoryview(self._content.volatile)[position : position + length])
        self._count_read(len(found))
        return found

    def read_into(self, position: int, buffers: Sequence[bytearray | memoryview]) -> int:
        self._begin(Operation.READ, position)
        start = position
        for buffer in buffers:
            piece = self._content.volatile[position : position + len(buffer)]
            buffer[: len(piece)] = piece
            position += len(piece)
        self._count_read(position - start)
        return position - start

    def read_cached(self, position: int, length: int) -> Buffer | None:
        if self._disk.faults.is_slow(self._place):
            self._check_open()
            return None
        found = self.read_at(position, length)
        return self._disk.faults.as_sent(found, self._content.volatile, position)

    def write_at(self, position: int, buffers: Sequence[Buffer]) -> int:
        self._begin_change(position)
        data = b"".join(buffers)
        fits = self._fitting(position, len(data))
        if fits:
            self._content.write(self._disk.next_sequence(), position, data[:fits])
        counters = self._disk.counters
        counters.writes += 1
        counters.bytes_written += fits
        if fits < len(data):
            reason = f"No space left while writing at {position}; {fits} bytes were written"
            raise OSError(errno.ENOSPC, reason, self._path)
        return fits

    def truncate(self, size: int) -> None:
        self._begin_change(size)
        self._disk.counters.truncations += 1
        self._content.truncate(self._disk.next_sequence(), size)

    def preallocate(self, size: int) -> None:
        self._begin_change(size)
        if size - self._content.allocated > self._disk.room_left():
            reason = f"No space left while reserving {size} bytes"
            raise OSError(errno.ENOSPC, reason, self._path)
        self._content.reserved = max(self._content.reserved, size)

    def sync(self) -> None:
        self._check_open()
        try:
            self._disk.faults.meet(Operation.SYNC, self._place)
        except OSError:
            self._content.drop_unsynced()
            raise
        self._disk.counters.syncs += 1
        self._content.sync()

    def duplicate_descriptor(self) -> None:
        return None

    def close(self) -> None:
        if self._generation == self._disk.generation and self._on_close is not None:
            self._on_close(self._content)
        self._generation = _CLOSED

    def _begin(self, operation: Operation, position: int = 0) -> None:
        self._check_open()
        self._disk.faults.meet(operation, self._place)
        if position < 0:
            raise OSError(errno.EINVAL, f"there is no position {position}", self._path)

    def _begin_change(self, position: int) -> None:
        self._begin(Operation.WRITE, position)
        if not self._writable:
            raise OSError(errno.EBADF, "the file was opened for reading only", self._path)

    def _check_open(self) -> None:
        if self._generation == self._disk.generation:
            return
        reason = "is closed" if self._generation == _CLOSED else "is from before a crash"
        raise OSError(errno.EBADF, f"this handle {reason}", self._path)

    def _count_read(self, length: int) -> None:
        self._disk.counters.reads += 1
        self._disk.counters.bytes_read += length

    def _fitting(self, position: int, length: int) -> int:
        """The number of bytes of a write for which there is space."""
        growth = position + length - self._content.allocated
        return length - min(max(growth - self._disk.room_left(), 0), length)
