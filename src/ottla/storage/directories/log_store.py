"""All logs of a node, in one or several log directories (`log.dirs`) that fail independently.

A directory whose disk fails goes offline with its partitions; the others continue to serve. A full
disk is no failure for partitions without other replicas: they refuse appends with a clear error and
can still be read. For replicated partitions it is: the other replicas continue without this one.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence

from ottla.model import ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.runtime.disk import Disk
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.stray_directories import StrayDirectory, find_strays
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig

_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_FULL = (errno.ENOSPC, errno.EDQUOT)


class LogStore:
    """Opens its directories at construction. Owned by one thread."""

    def __init__(self, disk: Disk, paths: Sequence[str]) -> None:
        self._disk = disk
        self._directories: dict[str, LogDirectory] = {}
        # Offline directories, with the error of each.
        self.failed: dict[str, OSError] = {}
        # Called with the path of each directory that goes offline.
        self.on_offline: Callable[[str], None] = lambda _path: None
        for path in paths:
            try:
                self._directories[path] = LogDirectory(disk, path)
            except BlockingIOError:
                self.abandon()
                raise
            except OSError as error:
                self.failed[path] = error
        self._require_one_directory()

    @property
    def directories(self) -> list[LogDirectory]:
        """The directories that are online."""
        return list(self._directories.values())

    @property
    def directory_ids(self) -> list[Uuid]:
        """The directory ids (KIP-858) of the directories that are online."""
        return [found for directory in self.directories if (found := directory.id) is not None]

    def get(self, partition: TopicPartition) -> Log | None:
        for directory in self._directories.values():
            log = directory.logs.get(partition)
            if log is not None:
                return log
        return None

    def __iter__(self) -> Iterator[Log]:
        for directory in self._directories.values():
            yield from directory.logs.values()

    def create_log(
        self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
        *,
        now_ms: int,
        path: str | None = None,
    ) -> Log:
        """Creates a log, in the directory with the fewest logs unless `path` names one."""
        self._require_one_directory()
        directory = (
            min(self.directories, key=lambda each: len(each.logs))
            if path is None
            else self._directories[path]
        )
        try:
            return directory.create_log(partition, topic_id, config, now_ms=now_ms)
        except OSError as error:
            raise self.storage_error(directory.path, error) from error

    def find_strays(self, path: str, now_ms: int) -> list[StrayDirectory]:
        """The stray directories that this or an earlier process has set aside. Touches nothing
        else, so it may run on a worker."""
        return find_strays(self._disk, path, now_ms=now_ms)

    def can_free(self, path: str, error: OSError) -> bool:
        """Whether the disk is only full, and the directory has logs of deleted topics."""
        directory = self._directories.get(path)
        return error.errno in _FULL and directory is not None and len(directory.deleted) > 0

    def storage_error(
        self, path: str, error: OSError, *, is_replicated: bool = False
    ) -> KafkaError:
        """Converts an `OSError` in a directory to the error for the client. Takes the directory
        offline, unless the process is out of file descriptors, or the disk is full and either
        space can be freed or the data that could not be written is not replicated."""
        if self.can_free(path, error):
            return KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the disk of {path} is full; deleted topics are purged to free space",
            )
        if error.errno in _FULL and not is_replicated:
            return KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the disk of {path} is full; free space, shorten retention or add a directory",
            )
        if error.errno in _OUT_OF_DESCRIPTORS:
            return KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                "the node has too many open files; raise its limit with ulimit -n",
            )
        self.take_offline(path, error)
        return KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"the disk of {path} failed and its partitions are offline: {error}",
        )

    def take_offline(self, path: str, error: OSError) -> list[TopicPartition]:
        """Takes a directory offline and returns its partitions."""
        directory = self._directories.pop(path, None)
        if directory is None:
            return []
        self.failed[path] = error
        partitions = [*directory.logs, *directory.offline]
        directory.abandon()
        self.on_offline(path)
        return partitions

    def abandon(self) -> None:
        """Abandons every directory, without a flush."""
        for directory in self.directories:
            directory.abandon()

    def close(self, *, broker_epoch: int) -> None:
        """Closes every directory cleanly. One that fails now is recovered at the next start."""
        for directory in self.directories:
            try:
                directory.close(broker_epoch=broker_epoch)
            except OSError as error:
                self.take_offline(directory.path, error)
        self._directories.clear()

    def _require_one_directory(self) -> None:
        if not self._directories:
            raise OSError(errno.EIO, f"no log directory can be used ({self.failures_text})")

    @property
    def failures_text(self) -> str:
        """The offline directories, each with its error."""
        return "; ".join(f"{path}: {error}" for path, error in self.failed.items())
