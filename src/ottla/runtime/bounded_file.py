"""A file of a bounded disk; bounded_disk.py explains why these exist and why they are safe.

Every operation *pins* its file. A pinned file is not closed, so a sync on a worker thread and the
event loop's reads and writes do not interfere. Pinning takes no lock: a lock would cost as much as
the read itself, and the event loop would wait for another thread's rename. Instead each side
publishes its intent before it checks the other's, so at least one of two concurrent sides notices
the other:

    operation                           closing (with the lock held)
    pin                                 set must_release
    take the descriptor                 take the descriptor away
     └─ there is none: open again,       └─ there is a pin: put it back, and leave
        with the lock held                  the closing to the operation
    work                                close
    unpin
     └─ must_release: call `OpenFiles.release`

A list serves as the pin count, because its `append` and `pop` are atomic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ottla.model.buffers import Buffer
from ottla.runtime.disk import File


class Descriptors(Protocol):
    """The descriptors that files share; implemented by `OpenFiles`."""

    def open_again(self, file: BoundedFile) -> File: ...

    def release(self, file: BoundedFile) -> None: ...

    def close(self, file: BoundedFile) -> None: ...


class BoundedFile:
    """A file that may have no descriptor between two operations. Callers do not notice.

    If another program renamed or removed it, its next use fails or opens a different file. Public
    attributes other than the methods of `File` belong to `OpenFiles`.
    """

    __slots__ = (
        "_files",
        "_path",
        "is_closed",
        "is_used",
        "is_writable",
        "lower",
        "must_release",
        "name",
        "pins",
    )

    def __init__(self, path: str, files: Descriptors, *, is_writable: bool) -> None:
        self._path = path
        self._files = files
        self.is_writable = is_writable
        # None once the file was removed or replaced: then it cannot be opened again.
        self.name: str | None = None
        self.lower: File | None = None
        self.pins: list[None] = []
        # Whether it was used since `OpenFiles` last considered closing it.
        self.is_used = False
        # Whether its descriptor is to be closed after the last operation in progress.
        self.must_release = False
        self.is_closed = False

    @property
    def path(self) -> str:
        return self._path

    # The methods that requests use pin inline, which saves two calls each.

    def read_at(self, position: int, length: int) -> bytes:
        self.pins.append(None)
        self.is_used = True
        try:
            return (self.lower or self._files.open_again(self)).read_at(position, length)
        finally:
            self.pins.pop()
            if self.must_release:
                self._files.release(self)

    def read_cached(self, position: int, length: int) -> Buffer | None:
        self.pins.append(None)
        self.is_used = True
        try:
            return (self.lower or self._files.open_again(self)).read_cached(position, length)
        finally:
            self.pins.pop()
            if self.must_release:
                self._files.release(self)

    def write_at(self, position: int, buffers: Sequence[Buffer]) -> int:
        self.pins.append(None)
        self.is_used = True
        try:
            return (self.lower or self._files.open_again(self)).write_at(position, buffers)
        finally:
            self.pins.pop()
            if self.must_release:
                self._files.release(self)

    def size(self) -> int:
        try:
            return self._pin().size()
        finally:
            self._unpin()

    def read_into(self, position: int, buffers: Sequence[bytearray | memoryview]) -> int:
        try:
            return self._pin().read_into(position, buffers)
        finally:
            self._unpin()

    def truncate(self, size: int) -> None:
        try:
            self._pin().truncate(size)
        finally:
            self._unpin()

    def preallocate(self, size: int) -> None:
        try:
            self._pin().preallocate(size)
        finally:
            self._unpin()

    def sync(self) -> None:
        try:
            self._pin().sync()
        finally:
            self._unpin()

    def duplicate_descriptor(self) -> int | None:
        try:
            return self._pin().duplicate_descriptor()
        finally:
            self._unpin()

    def close(self) -> None:
        """Closes the file once operations in progress on other threads have ended."""
        self._files.close(self)

    def give_up(self) -> bool:
        """Closes the descriptor, with the lock of `OpenFiles` held. If an operation is in progress,
        returns False and the operation closes it."""
        self.must_release = True
        lower, self.lower = self.lower, None
        if self.pins:
            self.lower = lower
            return False
        self.must_release = False
        if lower is not None:
            lower.close()
        return True

    def _pin(self) -> File:
        """Pins the file, even if this raises."""
        self.pins.append(None)
        self.is_used = True
        return self.lower or self._files.open_again(self)

    def _unpin(self) -> None:
        self.pins.pop()
        if self.must_release:
            self._files.release(self)
