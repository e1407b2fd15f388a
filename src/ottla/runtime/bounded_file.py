"""Files that share a bounded number of descriptors; bounded_disk.py says why and why it is safe.

A file is *pinned* while an operation runs on it. Pinned files are never closed, so a sync on a
worker's thread and the event loop's reads and writes do not get into each other's way. Files that
are open and not pinned are *idle*, in order of their last use, and the first of them make room.
"""

from __future__ import annotations

import errno
import threading
from collections import OrderedDict
from collections.abc import Sequence
from posixpath import normpath

from ottla.model.buffers import Buffer
from ottla.runtime.disk import Disk, File


class BoundedFile:
    """A file that may be without a descriptor between two operations. Nobody notices.

    If it was renamed or removed by anyone but its disk, its next use raises or finds another file.
    """

    __slots__ = ("_path", "_slot")

    def __init__(self, path: str, slot: FileSlot) -> None:
        self._path = path
        self._slot = slot

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        with self._slot as file:
            return file.size()

    def read_at(self, position: int, length: int) -> bytes:
        with self._slot as file:
            return file.read_at(position, length)

    def read_into(self, position: int, buffers: Sequence[bytearray | memoryview]) -> int:
        with self._slot as file:
            return file.read_into(position, buffers)

    def read_cached(self, position: int, length: int) -> Buffer | None:
        with self._slot as file:
            return file.read_cached(position, length)

    def write_at(self, position: int, buffers: Sequence[Buffer]) -> int:
        with self._slot as file:
            return file.write_at(position, buffers)

    def truncate(self, size: int) -> None:
        with self._slot as file:
            file.truncate(size)

    def preallocate(self, size: int) -> None:
        with self._slot as file:
            file.preallocate(size)

    def sync(self) -> None:
        with self._slot as file:
            file.sync()

    def duplicate_descriptor(self) -> int | None:
        with self._slot as file:
            return file.duplicate_descriptor()

    def close(self) -> None:
        """Closes at the end of whatever another thread is still doing."""
        self._slot.close()


class FileSlot:
    """One file's place among the open ones. Entered to pin it; its state belongs to `OpenFiles`."""

    __slots__ = ("file", "files", "is_closed", "name", "pins", "writable")

    def __init__(self, files: OpenFiles, name: str, *, writable: bool) -> None:
        self.files = files
        # None once the file was removed or replaced: then it cannot be opened again.
        self.name: str | None = name
        self.writable = writable
        self.file: File | None = None
        self.pins = 0
        self.is_closed = False

    def __enter__(self) -> File:
        return self.files.pin(self)

    def __exit__(self, *_: object) -> None:
        self.files.unpin(self)

    def close(self) -> None:
        self.files.close(self)


class OpenFiles:
    """Every file of one bounded disk that is not closed, by name and by last use."""

    def __init__(self, disk: Disk, limit: int) -> None:
        self.limit = limit
        self._disk = disk
        self._lock = threading.Lock()
        self._idle: OrderedDict[FileSlot, None] = OrderedDict()
        self._by_name: dict[str, list[FileSlot]] = {}

    def open(self, path: str, *, writable: bool, create: bool = False) -> FileSlot:
        slot = FileSlot(self, normpath(path), writable=writable)
        with self._lock:
            self._open(slot, create=create)
            self._idle[slot] = None
            self._give_name(slot, normpath(path))
        return slot

    def pin(self, slot: FileSlot) -> File:
        with self._lock:
            if slot.is_closed:
                raise OSError(errno.EBADF, "the file is closed", slot.name)
            file = slot.file or self._open(slot)
            self._idle.pop(slot, None)
            slot.pins += 1
            return file

    def unpin(self, slot: FileSlot) -> None:
        with self._lock:
            slot.pins -= 1
            if slot.pins:
                return
            if slot.is_closed:
                _give_up(slot)
            else:
                self._rest([slot])

    def close(self, slot: FileSlot) -> None:
        with self._lock:
            if slot.is_closed:
                return
            slot.is_closed = True
            if slot.name is not None:
                self._take_name(slot)
            if not slot.pins:
                _give_up(slot)

    def rename(self, old: str, new: str) -> None:
        old_name, new_name = normpath(old), normpath(new)
        with self._lock:
            moved = self._at_or_under(old_name)
            replaced = self._at(new_name) if new_name != old_name else []
            try:
                self._keep_open(replaced)
                self._disk.rename(old, new)
                for slot in replaced:
                    self._take_name(slot)
                for slot in moved:
                    name = self._take_name(slot)
                    self._give_name(slot, new_name + name.removeprefix(old_name))
            finally:
                self._rest(moved + replaced)

    def remove(self, path: str) -> None:
        with self._lock:
            removed = self._at(normpath(path))
            try:
                self._keep_open(removed)
                self._disk.remove(path)
                for slot in removed:
                    self._take_name(slot)
            finally:
                self._rest(removed)

    def _open(self, slot: FileSlot, *, create: bool = False) -> File:
        assert slot.name is not None, "a file without a name stays open"
        self._close_idle_above(self.limit - 1)
        if slot.writable:
            slot.file = self._disk.open(slot.name, create=create)
        else:
            slot.file = self._disk.open_readonly(slot.name)
        return slot.file

    def _close_idle_above(self, limit: int) -> None:
        while len(self._idle) > limit:
            slot, _ = self._idle.popitem(last=False)
            _give_up(slot)

    def _at(self, name: str) -> list[FileSlot]:
        return list(self._by_name.get(name, ()))

    def _at_or_under(self, name: str) -> list[FileSlot]:
        found = self._at(name)
        if self._disk.is_directory(name):
            for other, slots in self._by_name.items():
                if other.startswith(f"{name}/"):
                    found.extend(slots)
        return found

    def _keep_open(self, slots: list[FileSlot]) -> None:
        """Opens files whose name is about to go, and lets none of them make room for another."""
        for slot in slots:
            self._idle.pop(slot, None)
        for slot in slots:
            if slot.file is None:
                self._open(slot)

    def _rest(self, slots: list[FileSlot]) -> None:
        """Puts among the idle what is open, not in use, and can be opened again."""
        for slot in slots:
            if slot.file is not None and slot.name is not None and not slot.pins:
                self._idle[slot] = None
        self._close_idle_above(self.limit)

    def _give_name(self, slot: FileSlot, name: str) -> None:
        slot.name = name
        self._by_name.setdefault(name, []).append(slot)

    def _take_name(self, slot: FileSlot) -> str:
        name, slot.name = slot.name, None
        assert name is not None, "only files with a name are found by one"
        self._by_name[name].remove(slot)
        if not self._by_name[name]:
            del self._by_name[name]
        self._idle.pop(slot, None)
        return name


def _give_up(slot: FileSlot) -> None:
    file, slot.file = slot.file, None
    if file is not None:
        file.close()
