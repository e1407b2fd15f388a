"""Files that share a bounded number of descriptors; bounded_disk.py says why and why it is safe.

A file is *pinned* while an operation runs on it. Pinned files are never closed, so a sync on a
worker's thread and the event loop's reads and writes do not get into each other's way. Of the
others, the one whose last use is longest ago makes room when a file has to be opened.
"""

from __future__ import annotations

import errno
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from posixpath import dirname, normpath

from ottla.model.buffers import Buffer
from ottla.runtime.disk import Disk, File
from ottla.runtime.system_disk import OUT_OF_DESCRIPTORS


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

    def __init__(self, files: OpenFiles, *, writable: bool) -> None:
        self.files = files
        # None once the file was removed or replaced: then it cannot be opened again.
        self.name: str | None = None
        self.writable = writable
        self.file: File | None = None
        self.pins = 0
        self.is_closed = False

    def __enter__(self) -> File:
        with self.files.lock:
            file = self.file or self.files.open_again(self)
            self.pins += 1
            return file

    def __exit__(self, *_: object) -> None:
        with self.files.lock:
            self.pins -= 1
            self.files.was_used(self)

    def close(self) -> None:
        self.files.close(self)


class OpenFiles:
    """Every file of one bounded disk that is not closed, by name, and the open ones by last use.

    Methods that say so are called with the lock held.
    """

    def __init__(self, disk: Disk, limit: int) -> None:
        self.limit = limit
        self.lock = threading.Lock()
        self._disk = disk
        # Those that are open and could be opened again, the most recently used at the end.
        self._open: OrderedDict[FileSlot, None] = OrderedDict()
        self._by_name: dict[str, list[FileSlot]] = {}
        # By directory, because there are far fewer of them when one is renamed.
        self._names_in: dict[str, set[str]] = {}

    def open(self, path: str, *, writable: bool, create: bool = False) -> FileSlot:
        slot = FileSlot(self, writable=writable)
        with self.lock:
            self._open_file(slot, normpath(path), create=create)
            self._set_name(slot, normpath(path))
        return slot

    def open_again(self, slot: FileSlot) -> File:
        """Gives a descriptor to a slot that gave its own up. With the lock held."""
        if slot.is_closed:
            raise OSError(errno.EBADF, "the file is closed", slot.name)
        assert slot.name is not None, "a file without a name keeps its descriptor"
        return self._open_file(slot, slot.name)

    def was_used(self, slot: FileSlot) -> None:
        """With the lock held, after an operation."""
        if slot.is_closed:
            if not slot.pins:
                _give_up(slot)
        elif slot.name is not None:
            self._open.move_to_end(slot)
            if len(self._open) > self.limit:
                self._make_room(self.limit)

    def close(self, slot: FileSlot) -> None:
        with self.lock:
            if slot.is_closed:
                return
            slot.is_closed = True
            self._set_name(slot, None)
            if not slot.pins:
                _give_up(slot)

    def rename(self, old: str, new: str) -> None:
        old_name, new_name = normpath(old), normpath(new)
        with self.lock:
            moved = self._at_or_under(old_name)
            with self._kept_open(new_name if new_name != old_name else None) as replaced:
                self._disk.rename(old, new)
                for slot in replaced:
                    self._set_name(slot, None)
                for slot in moved:
                    assert slot.name is not None
                    self._set_name(slot, new_name + slot.name.removeprefix(old_name))

    def remove(self, path: str) -> None:
        with self.lock, self._kept_open(normpath(path)) as removed:
            self._disk.remove(path)
            for slot in removed:
                self._set_name(slot, None)

    def _open_file(self, slot: FileSlot, name: str, *, create: bool = False) -> File:
        self._make_room(self.limit - 1)
        try:
            slot.file = self._open_now(slot, name, create=create)
        except OSError as error:
            if error.errno not in OUT_OF_DESCRIPTORS:
                raise
            # Others of this process took them; what is open here is the only thing to spare.
            self._make_room(len(self._open) // 2)
            slot.file = self._open_now(slot, name, create=create)
        self._open[slot] = None
        return slot.file

    def _open_now(self, slot: FileSlot, name: str, *, create: bool) -> File:
        if slot.writable:
            return self._disk.open(name, create=create)
        return self._disk.open_readonly(name)

    def _make_room(self, limit: int) -> None:
        while len(self._open) > limit:
            unused = next((slot for slot in self._open if not slot.pins), None)
            if unused is None:
                return
            del self._open[unused]
            _give_up(unused)

    def _at_or_under(self, name: str) -> list[FileSlot]:
        found = list(self._by_name.get(name, ()))
        if self._disk.is_directory(name):
            below = f"{name}/"
            directories = [each for each in self._names_in if each.startswith(below)]
            for directory in (name, *directories):
                for other in self._names_in.get(directory, ()):
                    found.extend(self._by_name[other])
        return found

    @contextmanager
    def _kept_open(self, name: str | None) -> Iterator[list[FileSlot]]:
        """The files of a name that is about to go, all of them open and pinned."""
        slots = list(self._by_name.get(name, ())) if name is not None else []
        for slot in slots:
            slot.pins += 1
        try:
            for slot in slots:
                if slot.file is None:
                    self.open_again(slot)
            yield slots
        finally:
            for slot in slots:
                slot.pins -= 1
            self._make_room(self.limit)

    def _set_name(self, slot: FileSlot, name: str | None) -> None:
        """Without a name, a slot leaves those that can be opened again."""
        if slot.name is not None:
            self._by_name[slot.name].remove(slot)
            if not self._by_name[slot.name]:
                self._forget(slot.name)
        slot.name = name
        if name is None:
            self._open.pop(slot, None)
        else:
            self._by_name.setdefault(name, []).append(slot)
            self._names_in.setdefault(dirname(name), set()).add(name)

    def _forget(self, name: str) -> None:
        del self._by_name[name]
        names = self._names_in[dirname(name)]
        names.remove(name)
        if not names:
            del self._names_in[dirname(name)]


def _give_up(slot: FileSlot) -> None:
    file, slot.file = slot.file, None
    if file is not None:
        file.close()
