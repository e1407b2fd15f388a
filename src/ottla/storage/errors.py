"""The errors of a log's files. All are `StorageError`s.

A failing device raises `OSError` from the `Disk`, which is not translated: the owner of the log
directory decides whether to take it offline.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial


class StorageError(Exception):
    """A file with invalid content. The message names the file and the remedy."""


class DirectoryFailedError(StorageError):
    """The node cannot run without this directory: its last log directory, or that of the metadata
    log."""


class CorruptIndexError(StorageError):
    """An invalid index. Rebuilding it from its log file repairs it."""


class CorruptSnapshotError(StorageError):
    """An invalid producer snapshot. An older one and the log replace it."""


class CorruptCheckpointError(StorageError):
    """A checkpoint or another small text file of a directory that cannot be parsed."""


class CorruptLogError(StorageError):
    """Bytes in a log file that are not a valid record batch. Everything before `position` is
    valid."""

    def __init__(self, path: str, *, position: int, reason: str) -> None:
        super().__init__(f"{path} is corrupt at byte {position}: {reason}")
        self.path = path
        self.position = position
        self.reason = reason

    def __reduce__(self) -> tuple[Callable[[str], CorruptLogError], tuple[str]]:
        """Pickles the constructor's arguments, so that a worker process can raise it."""
        return partial(CorruptLogError, position=self.position, reason=self.reason), (self.path,)
