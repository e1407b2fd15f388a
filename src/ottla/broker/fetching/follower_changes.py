"""Tracks which partitions have changed since the last response to a follower."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Protocol

from ottla.broker.fetching.session_partition import SessionPartition
from ottla.model import Uuid
from ottla.replication.partition import Partition


class WaitingFetch(Protocol):
    """A fetch request that waits for changes."""

    def notify_changed(self) -> None: ...


class FollowerChanges:
    """The changed partitions of a fetch session. Lives as long as the session."""

    def __init__(self, wanted: dict[tuple[str, Uuid, int], SessionPartition]) -> None:
        self.wanted = wanted
        # Ordered by the next read; partitions that did not fit the last response come first.
        self.changed: dict[tuple[str, Uuid, int], None] = {}
        self._watched: dict[tuple[str, Uuid, int], Partition] = {}
        self.waiting: WaitingFetch | None = None

    def look_at(self, named: Iterable[SessionPartition]) -> None:
        """Marks partitions as changed."""
        for each in named:
            self.changed[each.key] = None

    def watch(self, key: tuple[str, Uuid, int], partition: Partition) -> None:
        """Subscribes to the partition's appends and high watermark."""
        known = self._watched.get(key)
        if known is partition:
            return
        if known is not None:
            known.forget(self)
        self._watched[key] = partition
        partition.when_appended(self, partial(self._has_records, key))
        partition.when_committed(self, partial(self._has_offsets, key))

    def forget(self, keys: list[tuple[str, Uuid, int]]) -> None:
        """Unsubscribes from partitions that the follower no longer fetches."""
        for key in keys:
            self.changed.pop(key, None)
            partition = self._watched.pop(key, None)
            if partition is not None:
                partition.forget(self)

    def close(self) -> None:
        self.forget(list(self._watched))

    def _has_offsets(self, key: tuple[str, Uuid, int], _size: int) -> None:
        """Marks the partition, but does not wake the waiting fetch: a new high watermark can wait
        for the next response."""
        self.changed[key] = None

    def _has_records(self, key: tuple[str, Uuid, int], _size: int) -> None:
        self.changed[key] = None
        if self.waiting is not None:
            self.waiting.notify_changed()
