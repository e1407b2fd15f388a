"""What a disk is to a program, said as plainly as possible: the model for conformance tests."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field


@dataclass(eq=False)
class NaiveFile:
    """Bytes with or without a name."""

    content: bytes = b""
    locked: bool = False

    def read(self, position: int, length: int) -> bytes:
        return self.content[position : position + length]

    def write(self, position: int, data: bytes) -> None:
        if data:
            padded = self.content.ljust(position, b"\0")
            self.content = padded[:position] + data + padded[position + len(data) :]

    def truncate(self, size: int) -> None:
        self.content = self.content[:size].ljust(size, b"\0")


@dataclass
class NaiveDisk:
    """Names to files, and a set of directories. Knows nothing of durability."""

    files: dict[str, NaiveFile] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)

    def open(self, path: str, *, create: bool) -> NaiveFile:
        self._check_parent(path)
        if path in self.directories:
            raise OSError(errno.EISDIR, path)
        if path not in self.files:
            if not create:
                raise OSError(errno.ENOENT, path)
            self.files[path] = NaiveFile()
        return self.files[path]

    def exists(self, path: str) -> bool:
        return path in self.files or path in self.directories

    def names(self, path: str) -> list[str]:
        self._check_directory(path)
        return sorted(self._names(path))

    def make_directories(self, path: str) -> None:
        above = _parent(path)
        if above in self.files:
            raise OSError(errno.ENOTDIR, path)
        if above not in self.directories:
            self.make_directories(above)
        if path in self.files:
            raise OSError(errno.EEXIST, path)
        self.directories.add(path)

    def rename(self, old: str, new: str) -> None:
        self._check_parent(old)
        if not self.exists(old):
            raise OSError(errno.ENOENT, old)
        self._check_parent(new)
        if old == new:
            return
        if new.startswith(f"{old}/"):
            raise OSError(errno.EINVAL, new)
        if old in self.directories:
            self._rename_directory(old, new)
        elif new in self.directories:
            raise OSError(errno.EISDIR, new)
        else:
            self.files[new] = self.files.pop(old)

    def remove(self, path: str) -> None:
        self._check_parent(path)
        if path in self.directories:
            raise OSError(errno.EISDIR, path)
        if path not in self.files:
            raise OSError(errno.ENOENT, path)
        del self.files[path]

    def remove_directory(self, path: str) -> None:
        self._check_directory(path)
        if self._names(path):
            raise OSError(errno.ENOTEMPTY, path)
        self.directories.remove(path)

    def _rename_directory(self, old: str, new: str) -> None:
        if new in self.files:
            raise OSError(errno.ENOTDIR, new)
        if new in self.directories and self._names(new):
            raise OSError(errno.ENOTEMPTY, new)
        moved = {path for path in self.directories if path == old or path.startswith(f"{old}/")}
        self.directories -= moved
        self.directories |= {new + path.removeprefix(old) for path in moved}
        for path in [path for path in self.files if path.startswith(f"{old}/")]:
            self.files[new + path.removeprefix(old)] = self.files.pop(path)

    def _names(self, path: str) -> set[str]:
        return {
            other.removeprefix(f"{path}/").split("/")[0]
            for other in [*self.files, *self.directories]
            if other.startswith(f"{path}/")
        }

    def _check_directory(self, path: str) -> None:
        self._check_parent(path)
        if path in self.files:
            raise OSError(errno.ENOTDIR, path)
        if path not in self.directories:
            raise OSError(errno.ENOENT, path)

    def _check_parent(self, path: str) -> None:
        above = _parent(path)
        if above in self.directories:
            return
        while above not in self.directories and above not in self.files:
            above = _parent(above)
        raise OSError(errno.ENOTDIR if above in self.files else errno.ENOENT, path)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
