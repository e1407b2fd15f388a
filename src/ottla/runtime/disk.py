"""The disk interface: all file operations of Ottla go through `Disk` and `File`.

`SystemDisk` (system_disk.py) is the real implementation. `ottla.simulation` has one that simulates
crashes, torn writes, bit rot and full disks. Calls block; the caller decides what runs on a worker.

Guarantees, and no more:

- bytes are durable after `File.sync`, names (created, renamed, removed) after
  `Disk.sync_directory` of the directory that holds them;
- after a crash, unsynced changes may be present, partly present or lost, in any order;
- `rename` replaces its target atomically.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ottla.model.buffers import Buffer


class File(Protocol):
    """An open file. Positions are absolute; there is no cursor. Its owner closes it once.

    A read allocates the whole `length` before it knows the file's size, so callers limit lengths
    that come from outside. A memoryview's items are bytes.
    """

    @property
    def path(self) -> str:
        """The name it was opened by; a rename does not change it."""

    def size(self) -> int: ...

    def read_at(self, position: int, length: int) -> bytes:
        """Reads up to `length` bytes; fewer only at the end of the file."""

    def read_into(self, position: int, buffers: Sequence[bytearray | memoryview]) -> int:
        """Fills the buffers in order (one vectored read) and returns the number of bytes read."""

    def read_cached(self, position: int, length: int) -> Buffer | None:
        """The same bytes as `read_at` if they can be read without waiting for the device, else
        None."""

    def write_at(self, position: int, buffers: Sequence[Buffer]) -> int:
        """Writes all buffers back to back (vectored) and returns their total length.

        After an `OSError`, mostly a full disk, any part of them may have been written.
        """

    def truncate(self, size: int) -> None: ...

    def preallocate(self, size: int) -> None:
        """Reserves space up to `size` without changing `size()`.

        Does nothing if the file system does not support it. Raises if the disk is full.
        """

    def sync(self) -> None:
        """Returns when the file's bytes and size are on the device.

        After an error it is unknown which unsynced bytes are on the device, and the next sync may
        succeed without writing them: treat everything unsynced as lost.
        """

    def duplicate_descriptor(self) -> int | None:
        """A new descriptor for `sendfile`, which the caller closes; None in a simulation.

        The file's own descriptor may be closed at any time (see bounded_disk.py), and if its number
        were reused, another file's bytes would be sent.
        """

    def close(self) -> None: ...


class Disk(Protocol):
    """Names and space. Paths are strings joined with '/'. Errors are `OSError`s.

    `exists` and `is_directory` also raise if the device fails: a failing disk must never look like
    an empty one.
    """

    def open(self, path: str, *, create: bool = False) -> File:
        """Opens for reading and writing. With `create`, creates a missing file."""

    def open_readonly(self, path: str) -> File: ...

    def open_private(self, path: str) -> File:
        """Opens for reading and writing, and creates a missing file. Only the owner can read it."""

    def exists(self, path: str) -> bool: ...

    def file_size(self, path: str) -> int: ...

    def list_directory(self, path: str) -> list[str]:
        """The names in a directory, sorted."""

    def is_directory(self, path: str) -> bool: ...

    def make_directories(self, path: str) -> None: ...

    def rename(self, old: str, new: str) -> None: ...

    def remove(self, path: str) -> None: ...

    def remove_directory(self, path: str) -> None:
        """Removes an empty directory."""

    def sync_directory(self, path: str) -> None: ...

    def sync_directories(self, paths: Sequence[str]) -> None:
        """Returns when everything in these directories is on the device: names and bytes. For many
        directories that is much cheaper than one sync per file."""

    def space_left(self, path: str) -> int:
        """The bytes that an unprivileged process may still write to the device of `path`."""

    def space_total(self, path: str) -> int:
        """The size of the device of `path` in bytes."""

    def lock(self, path: str) -> File:
        """Creates a file and locks it until it is closed. Raises `BlockingIOError` if another
        process holds the lock."""
