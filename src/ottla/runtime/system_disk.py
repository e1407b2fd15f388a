"""The disk interface on the operating system's files.

One call here is one system call where the kernel allows it: positional, vectored, without a cursor
and without buffering.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Sequence

from ottla.model.buffers import Buffer
from ottla.runtime.fallocate import reserve
from ottla.runtime.file_system_sync import sync_file_system

# The kernel refuses a vectored call with more buffers than this.
BUFFERS_PER_CALL = os.sysconf("SC_IOV_MAX")

_READ_CACHED_ONLY = getattr(os, "RWF_NOWAIT", 0)
# The limit of the process, and that of the host.
OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)

_FULL = (errno.ENOSPC, errno.EDQUOT)
# Readable and writable by the owner only.
_PRIVATE = 0o600
# Never a valid descriptor, so the kernel raises an `OSError`. Python itself refuses -1, with
# another exception.
_CLOSED = 2**31 - 1


class SystemDisk:
    """The files of this host. Stateless and picklable."""

    __slots__ = ()

    def open(self, path: str, *, create: bool = False) -> SystemFile:
        return SystemFile(path, _open(path, os.O_RDWR | (os.O_CREAT if create else 0)))

    def open_readonly(self, path: str) -> SystemFile:
        return SystemFile(path, _open(path, os.O_RDONLY))

    def open_private(self, path: str) -> SystemFile:
        descriptor = _open(path, os.O_RDWR | os.O_CREAT, mode=_PRIVATE)
        try:
            # The file may exist with other permissions.
            os.fchmod(descriptor, _PRIVATE)
        except OSError:
            os.close(descriptor)
            raise
        return SystemFile(path, descriptor)

    def exists(self, path: str) -> bool:
        return _mode(path) is not None

    def file_size(self, path: str) -> int:
        return os.stat(path).st_size

    def list_directory(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def is_directory(self, path: str) -> bool:
        mode = _mode(path)
        return mode is not None and stat.S_ISDIR(mode)

    def make_directories(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def sync_directory(self, path: str) -> None:
        descriptor = _open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise _explained(error, "while syncing the directory", path) from error
        finally:
            os.close(descriptor)

    def sync_directories(self, paths: Sequence[str]) -> None:
        file_systems = {os.stat(path).st_dev: path for path in paths}
        if not all(map(self._sync_file_system, file_systems.values())):
            self._sync_one_by_one(paths)

    def _sync_file_system(self, path: str) -> bool:
        descriptor = _open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return sync_file_system(descriptor)
        except OSError as error:
            raise _explained(error, "while syncing the file system", path) from error
        finally:
            os.close(descriptor)

    def _sync_one_by_one(self, paths: Sequence[str]) -> None:
        for path in paths:
            for name in os.listdir(path):
                if not self.is_directory(f"{path}/{name}"):
                    file = self.open_readonly(f"{path}/{name}")
                    try:
                        file.sync()
                    finally:
                        file.close()
            self.sync_directory(path)

    def space_left(self, path: str) -> int:
        found = os.statvfs(path)
        return found.f_bavail * found.f_frsize

    def space_total(self, path: str) -> int:
        found = os.statvfs(path)
        return found.f_blocks * found.f_frsize

    def lock(self, path: str) -> SystemFile:
        file = self.open(path, create=True)
        try:
            file.lock()
        except BaseException:
            file.close()
            raise
        return file


class SystemFile:
    """One descriptor, closed by its owner; every later call raises `OSError`.

    Threads may use a file at the same time, but none may still use it when it is closed.
    """

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        # Costs a quarter of `fstat`; the cursor that it moves is not used.
        return os.lseek(self._descriptor, 0, os.SEEK_END)

    def read_at(self, position: int, length: int) -> bytes:
        try:
            found = os.pread(self._descriptor, length, position)
            # A short read is not always the end of the file: the kernel limits one call to 2 GB and
            # stops before a page that it failed to read. Only an empty read is the end.
            while len(found) < length:
                more = os.pread(self._descriptor, length - len(found), position + len(found))
                if not more:
                    break
                found += more
            return found
        except OSError as error:
            raise _explained(error, f"while reading at {position}", self._path) from error

    def read_into(self, position: int, buffers: Sequence[bytearray | memoryview]) -> int:
        try:
            return self._read_vectored(position, buffers, 0)
        except OSError as error:
            raise _explained(error, f"while reading at {position}", self._path) from error

    def read_cached(self, position: int, length: int) -> Buffer | None:
        """See `File`. If the kernel or file system cannot tell, this reads and may wait.

        Returning None would send every read of such a file system to a worker, which costs more
        than the waits it saves: those file systems are mostly in memory, and readahead hides the
        device from sequential readers.
        """
        buffer = bytearray(length)
        try:
            found = self._read_vectored(position, (buffer,), _READ_CACHED_ONLY)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno == errno.EOPNOTSUPP:
                return self.read_at(position, length)
            raise _explained(error, f"while reading at {position}", self._path) from error
        # No copy into `bytes`: with two large blocks at a time malloc returns memory to the kernel
        # and faults it in again, which was measured to cost 1 ms per MB.
        del buffer[found:]
        return buffer

    def write_at(self, position: int, buffers: Sequence[Buffer]) -> int:
        try:
            # For an append of one batch: `pwrite` is a third cheaper than `pwritev` with one
            # buffer.
            if len(buffers) == 1:
                written = os.pwrite(self._descriptor, buffers[0], position)
                if written == len(buffers[0]):
                    return written
            else:
                written = os.pwritev(self._descriptor, buffers[:BUFFERS_PER_CALL], position)
        except OSError as error:
            raise self._write_failed(error, position, written=0) from error
        return self._write_rest(position, buffers, written)

    def truncate(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
        except OSError as error:
            raise _explained(error, f"while truncating to {size} bytes", self._path) from error

    def preallocate(self, size: int) -> None:
        try:
            reserve(self._descriptor, size)
        except OSError as error:
            raise _explained(error, f"while reserving {size} bytes", self._path) from error

    def sync(self) -> None:
        try:
            os.fdatasync(self._descriptor)
        except OSError as error:
            raise _explained(error, "while syncing; unsynced bytes are lost", self._path) from error

    def duplicate_descriptor(self) -> int:
        return os.dup(self._descriptor)

    def lock(self) -> None:
        """Locks the file exclusively, also within this process, until it is closed."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            reason = "another process holds this lock; stop it, or choose another directory"
            raise BlockingIOError(error.errno, reason, self._path) from error

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor != _CLOSED:
            os.close(descriptor)

    def _read_vectored(
        self, position: int, buffers: Sequence[bytearray | memoryview], flags: int
    ) -> int:
        total = sum(map(len, buffers))
        found = os.preadv(self._descriptor, buffers[:BUFFERS_PER_CALL], position, flags)
        while found < total:
            rest = _from_byte(buffers, found)[:BUFFERS_PER_CALL]
            more = os.preadv(self._descriptor, rest, position + found, flags)
            if not more:
                break
            found += more
        return found

    def _write_rest(self, position: int, buffers: Sequence[Buffer], written: int) -> int:
        """Continues after a short write: the disk is full, or the call exceeded 2 GB or the buffer
        limit."""
        total = sum(map(len, buffers))
        while written < total:
            rest = _from_byte(buffers, written)[:BUFFERS_PER_CALL]
            try:
                more = os.pwritev(self._descriptor, rest, position + written)
            except OSError as error:
                raise self._write_failed(error, position, written=written) from error
            assert more > 0, "the kernel wrote no bytes and reported no error"
            written += more
        return written

    def _write_failed(self, error: OSError, position: int, *, written: int) -> OSError:
        doing = f"while writing at {position}; {written} bytes were written"
        if error.errno in _FULL:
            doing += "; free space, shorten retention or add a log directory"
        return _explained(error, doing, self._path)


def _open(path: str, flags: int, *, mode: int = 0o644) -> int:
    return os.open(path, flags, mode)  # noqa: TID251  this is the seam


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _from_byte(buffers: Sequence[Buffer], skipped: int) -> list[memoryview]:
    """The rest of the buffers after the first `skipped` bytes."""
    left = []
    for buffer in buffers:
        if skipped < len(buffer):
            left.append(memoryview(buffer)[skipped:])
        skipped = max(skipped - len(buffer), 0)
    return left


def _explained(error: OSError, doing: str, path: str) -> OSError:
    return OSError(error.errno, f"{error.strerror} {doing}", path)
