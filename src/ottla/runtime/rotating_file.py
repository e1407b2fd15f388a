"""A text file of limited size: the current file is `PATH`, older ones are `PATH.1`, `PATH.2`, ...

Only the owner can read the files. Calls block, so they belong on a worker.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.runtime.disk import Disk, File


class RotatingFile:
    """Opened when created. The owner makes one call at a time and closes it once.

    After an error the next call writes at the same position, so a line that was written partially
    is overwritten.
    """

    def __init__(self, disk: Disk, path: str, *, bytes_max: int, files_max: int) -> None:
        """`files_max` counts the current file too. Raises OSError."""
        assert bytes_max > 0
        assert files_max > 0
        self._disk = disk
        self._path = path
        self._bytes_max = bytes_max
        self._files_max = files_max
        self._file: File | None = None
        self._open()
        self._remove_surplus()

    def append(self, lines: Iterable[bytes]) -> None:
        """Writes lines without their ends. Starts a new file before a line that would make the
        current one too large. Raises OSError."""
        waiting = bytearray()
        for line in lines:
            size = self._position + len(waiting)
            if size and size + len(line) + 1 > self._bytes_max:
                self._write(waiting)
                waiting = bytearray()
                self._rotate()
            waiting += line
            waiting += b"\n"
        self._write(waiting)

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _open(self) -> File:
        if self._file is None:
            self._file = self._disk.open_private(self._path)
            self._position = self._file.size()
            if self._position and self._file.read_at(self._position - 1, 1) != b"\n":
                # The process ended while it wrote the last line.
                self._position += self._file.write_at(self._position, [b"\n"])
        return self._file

    def _write(self, data: bytearray) -> None:
        if data:
            self._position += self._open().write_at(self._position, [data])

    def _rotate(self) -> None:
        self.close()
        for number in range(self._files_max - 1, 0, -1):
            newer = self._name(number - 1)
            if self._disk.exists(newer):
                self._disk.rename(newer, self._name(number))
        if self._files_max == 1:
            self._disk.remove(self._path)
        self._open()

    def _remove_surplus(self) -> None:
        """Removes the files of an earlier, larger `files_max`."""
        number = self._files_max
        while self._disk.exists(self._name(number)):
            self._disk.remove(self._name(number))
            number += 1

    def _name(self, number: int) -> str:
        return f"{self._path}.{number}" if number else self._path
