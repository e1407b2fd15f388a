"""What can be wrong with the files of a log. All of it is a `StorageError`.

A device that fails raises `OSError` from the disk seam and is not translated: whoever owns the log
directory decides whether to take it offline.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial


class StorageError(Exception):
    """A file that does not hold what it should. The message names the file and what to do."""


class DirectoryFailedError(StorageError):
    """A directory without which a node cannot go on: its last one for logs, or the metadata's."""


class CorruptIndexError(StorageError):
    """An index that cannot be trusted. Rebuilding it from its log file repairs it."""


class CorruptSnapshotError(StorageError):
    """A producer snapshot that cannot be trusted. An older one and the log replace it."""


class CorruptCheckpointError(StorageError):
    """A checkpoint, or another small text file of a directory, that does not parse."""


class CorruptLogError(StorageError):
    """Bytes in a log file that are no record batch. Everything before `position` is sound."""

    def __init__(self, path: str, *, position: int, reason: str) -> None:
        super().__init__(f"{path} is corrupt at byte {position}: {reason}")
        self.path = path
        self.position = position
        self.reason = reason

    def __reduce__(self) -> tuple[Callable[[str], CorruptLogError], tuple[str]]:
        """Pickled by its own arguments: a worker process may have met the bytes."""
        return partial(CorruptLogError, position=self.position, reason=self.reason), (self.path,)
