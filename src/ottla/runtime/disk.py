"""The disk seam: everything that Ottla does to files goes through `Disk` and `File`.

`SystemDisk` (system_disk.py) is the real one; `ottla.simulation` has one that crashes, tears,
rots and fills up. Calls block; the caller decides what runs on a worker.

What a caller may rely on, and no more:

- bytes are durable after `File.sync`, names (created, renamed, removed) after
  `Disk.sync_directory` of the directory that holds them;
- what was not synced may be there, partly there or gone after a crash, in any order;
- `rename` replaces its target atomically.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ottla.model.buffers import Buffer


class File(Protocol):
    """An open file. Positions are absolute; there is no cursor. Closed once, by its owner.

    A read takes memory for the whole `length` before it knows what the file holds, so a caller
    bounds lengths that come from elsewhere. A memoryview's items are bytes.
    """

    @property
    def path(self) -> str:
        """The name it was opened by; a rename does not change it."""

    def size(self) -> int: ...

    def read_at(self, position: int, length: int) -> bytes:
        """Up to `length` bytes; fewer only where the file ends."""

    def read_into(self, position: int, buffers: Sequence[bytearray | memoryview]) -> int:
        """Fills the buffers in order (one vectored read) and says how many bytes came."""

    def read_cached(self, position: int, length: int) -> Buffer | None:
        """The same bytes as `read_at` if that takes no wait for the device, else None."""

    def write_at(self, position: int, buffers: Sequence[Buffer]) -> int:
        """Writes all buffers back to back (vectored) and returns their total length.

        On an `OSError`, a full disk above all, any part of them may have been written.
        """

    def truncate(self, size: int) -> None: ...

    def preallocate(self, size: int) -> None:
        """Reserves room up to `size` without changing what `size()` says.

        A file system that cannot reserve reserves nothing; one that is full raises.
        """

    def sync(self) -> None:
        """Returns when the file's bytes and size are on the device.

        After an error nobody knows which unsynced bytes are there, and the next sync may succeed
        without them: what was not synced before counts as lost.
        """

    def duplicate_descriptor(self) -> int | None:
        """A new descriptor for `sendfile`, closed by the caller; None in a simulation.

        A new one, because the file may close its own at any time (see bounded_disk.py), and a
        number that is used again would send another file's bytes.
        """

    def close(self) -> None: ...


class Disk(Protocol):
    """Names and space. All paths are strings joined with '/'. Errors are `OSError`s.

    `exists` and `is_directory` raise, too, when the device cannot tell: a failing disk must never
    look like an empty one.
    """

    def open(self, path: str, *, create: bool = False) -> File:
        """Opens for reading and writing; `create` makes the file if it is missing."""

    def open_readonly(self, path: str) -> File: ...

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
        of them that is much cheaper than one file after the other."""

    def space_left(self, path: str) -> int:
        """Bytes that an unprivileged process may still write to the device of `path`."""

    def space_total(self, path: str) -> int:
        """Bytes that the device of `path` has, free or not."""

    def lock(self, path: str) -> File:
        """Creates and locks a file until it is closed; `BlockingIOError` if another holds it."""
