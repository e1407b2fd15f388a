"""The files of a bounded disk: which have a descriptor, and their current names.

Descriptors are evicted by second chance. The files with a descriptor form a queue. The first file
that was not used since it entered the queue is closed; a file that was used moves to the end. That
approximates least recently used, and a use of a file only sets a flag.
"""

from __future__ import annotations

import errno
import threading
from collections import OrderedDict
from posixpath import normpath

from ottla.runtime.bounded_file import BoundedFile
from ottla.runtime.disk import Disk, File
from ottla.runtime.system_disk import OUT_OF_DESCRIPTORS


class OpenFiles:
    """Every open file of one bounded disk. Thread-safe."""

    def __init__(self, disk: Disk, limit: int) -> None:
        self.limit = limit
        self._disk = disk
        self._lock = threading.Lock()
        # The queue: files that have a descriptor and could be opened again.
        self._open: OrderedDict[BoundedFile, None] = OrderedDict()
        self._by_name: dict[str, list[BoundedFile]] = {}
        # For each directory above an open file: the entries in it that lead to open files.
        self._names_in: dict[str, set[str]] = {}

    def open(self, path: str, *, is_writable: bool, create: bool = False) -> BoundedFile:
        file, name = BoundedFile(path, self, is_writable=is_writable), normpath(path)
        with self._lock:
            self._open_lower(file, name, create=create)
            self._set_name(file, name)
        return file

    def open_again(self, file: BoundedFile) -> File:
        """Gives a descriptor to a pinned file that has none."""
        with self._lock:
            return file.lower or self._open_again(file)

    def release(self, file: BoundedFile) -> None:
        """After an operation: closes descriptors that could not be closed while it was in
        progress."""
        with self._lock:
            file.must_release = False
            if file.is_closed:
                file.give_up()
            else:
                self._make_room(self.limit)

    def close(self, file: BoundedFile) -> None:
        with self._lock:
            if not file.is_closed:
                file.is_closed = True
                self._set_name(file, None)
                file.give_up()

    def rename(self, old: str, new: str) -> None:
        old_name, new_name = normpath(old), normpath(new)
        with self._lock:
            moved = self._at_or_under(old_name)
            replaced = self._let_go(new_name) if new_name != old_name else []
            try:
                self._disk.rename(old, new)
            except OSError:
                self._take_back(replaced, new_name)
                raise
            for file in moved:
                assert file.name is not None
                self._set_name(file, new_name + file.name.removeprefix(old_name))

    def remove(self, path: str) -> None:
        name = normpath(path)
        with self._lock:
            removed = self._let_go(name)
        try:
            # Without the lock, because removing a large file can take a large part of a second.
            self._disk.remove(path)
        except OSError:
            with self._lock:
                self._take_back(removed, name)
            raise

    # ---- descriptors, with the lock held

    def _open_again(self, file: BoundedFile) -> File:
        if file.is_closed:
            raise OSError(errno.EBADF, "the file is closed", file.path)
        assert file.name is not None, "a file without a name keeps its descriptor"
        return self._open_lower(file, file.name)

    def _open_lower(self, file: BoundedFile, name: str, *, create: bool = False) -> File:
        self._make_room(self.limit - 1)
        try:
            lower = self._open_now(file, name, create=create)
        except OSError as error:
            if error.errno not in OUT_OF_DESCRIPTORS:
                raise
            # Other parts of this process have used up the descriptors; only those here can be
            # freed.
            self._make_room(len(self._open) // 2)
            lower = self._open_now(file, name, create=create)
        file.lower = lower
        # Not marked, so a file that is opened and used only once is evicted first.
        file.is_used = False
        self._open[file] = None
        # If all others are in use, there is one too many until this file's operation ends.
        file.must_release = len(self._open) > self.limit
        return lower

    def _open_now(self, file: BoundedFile, name: str, *, create: bool) -> File:
        if file.is_writable:
            return self._disk.open(name, create=create)
        return self._disk.open_readonly(name)

    def _make_room(self, limit: int) -> None:
        # After two rounds every flag has been cleared, and the files that are left are in use.
        for _ in range(2 * len(self._open)):
            if len(self._open) <= limit:
                return
            file, _none = self._open.popitem(last=False)
            if file.is_used or not file.give_up():
                file.is_used = False
                self._open[file] = None

    # ---- names, with the lock held

    def _let_go(self, name: str) -> list[BoundedFile]:
        """Takes a name from its files. They keep their descriptors, because they cannot be opened
        again."""
        files = list(self._by_name.get(name, ()))
        try:
            for file in files:
                if file.lower is None:
                    self._open_again(file)
                self._set_name(file, None)
        except OSError:
            self._take_back(files, name)
            raise
        return files

    def _take_back(self, files: list[BoundedFile], name: str) -> None:
        """Undoes `_let_go`."""
        for file in files:
            if file.name is None and not file.is_closed:
                self._set_name(file, name)
                self._open[file] = None
        self._make_room(self.limit)

    def _at_or_under(self, name: str) -> list[BoundedFile]:
        found = list(self._by_name.get(name, ()))
        for below in self._names_in.get(name, ()):
            found += self._at_or_under(below)
        return found

    def _set_name(self, file: BoundedFile, name: str | None) -> None:
        """Renames a file. Without a name, removes it from the queue, because it cannot be opened
        again."""
        if file.name is not None:
            files = self._by_name[file.name]
            files.remove(file)
            if not files:
                del self._by_name[file.name]
                self._forget(file.name)
        file.name = name
        if name is None:
            self._open.pop(file, None)
        else:
            self._by_name.setdefault(name, []).append(file)
            self._note(name)

    def _note(self, name: str) -> None:
        while name:
            directory = name.rpartition("/")[0]
            names = self._names_in.setdefault(directory, set())
            if name in names:
                return
            names.add(name)
            name = directory

    def _forget(self, name: str) -> None:
        while name:
            directory = name.rpartition("/")[0]
            names = self._names_in[directory]
            names.remove(name)
            if names:
                return
            del self._names_in[directory]
            name = directory
