"""Handles log directory errors: takes partitions offline and returns the error for clients."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Final

from ottla.model import KafkaError
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log.log import Log

_log = logging.getLogger(__name__)

# The minimum time between two warnings about a full disk.
_QUIET_SECONDS: Final = 30.0


class StorageFailures:
    """Owned by the node's loop. Every `OSError` of a log is reported here."""

    def __init__(self, logs: LogStore, partitions: Partitions, clock: Clock) -> None:
        self._logs = logs
        self._partitions = partitions
        self._clock = clock
        self._quiet_until = 0.0
        # The directories with deleted topics in which a write has failed because the disk is full.
        self.full_paths: set[str] = set()
        self._on_offline: list[Callable[[Partition], None]] = []

    def listen(self, on_offline: Callable[[Partition], None]) -> None:
        """Adds a callback for each partition that is about to go offline."""
        self._on_offline.append(on_offline)

    def translated(self, partition: Partition) -> TranslatedFailure:
        """A context manager that turns an `OSError` of a log into a `KafkaError`."""
        return TranslatedFailure(self, partition)

    def partition_failed(self, partition: Partition, error: OSError) -> KafkaError:
        """Handles an error of a partition's log. Returns the error for the client."""
        path = partition.require_log().directory.rpartition("/")[0]
        return self.directory_failed(path, error, is_replicated=partition.has_other_replicas)

    def log_failed(self, log: Log, error: OSError) -> KafkaError:
        """Takes the log's directory and all its partitions offline, unless it is only full."""
        return self.directory_failed(log.directory.rpartition("/")[0], error)

    def directory_failed(
        self, path: str, error: OSError, *, is_replicated: bool = False
    ) -> KafkaError:
        """Takes a directory and all its partitions offline. A directory that is only full stays
        online, unless `is_replicated`: then other nodes have replicas and can take over. It also
        stays online if deleted topics can be purged, which `full_paths` asks for."""
        failure = self._logs.storage_error(path, error, is_replicated=is_replicated)
        if self._logs.can_free(path, error):
            self.full_paths.add(path)
        if path in self._logs.failed:
            _log.error("%s", failure.message)
            for each in self._partitions:
                if each.log is not None and each.log.directory.startswith(f"{path}/"):
                    for on_offline in self._on_offline:
                        on_offline(each)
                    each.go_offline()
        elif self._clock.monotonic() >= self._quiet_until:
            # Clients retry silently, so it is logged, but not for each request.
            self._quiet_until = self._clock.monotonic() + _QUIET_SECONDS
            _log.warning("%s", failure.message)
        return failure


class TranslatedFailure:
    """Raises `KafkaError` in place of an `OSError`. A class, because a generator-based context
    manager is too slow for every append and read."""

    __slots__ = ("_failures", "_partition")

    def __init__(self, failures: StorageFailures, partition: Partition) -> None:
        self._failures = failures
        self._partition = partition

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError):
            raise self._failures.partition_failed(self._partition, error) from error
