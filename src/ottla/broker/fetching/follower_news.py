"""Which partitions of a follower's fetches have changed since it was answered."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Protocol

from ottla.broker.fetching.session_partition import SessionPartition
from ottla.model import Uuid
from ottla.replication.partition import Partition


class WaitingFetch(Protocol):
    """A request that is answered when there is news."""

    def has_news(self) -> None: ...


class FollowerNews:
    """Which of a session's partitions have something to tell. Lives as long as the session."""

    def __init__(self, wanted: dict[tuple[str, Uuid, int], SessionPartition]) -> None:
        self.wanted = wanted
        # In the order in which they are served: who could not be served stays in front.
        self.changed: dict[tuple[str, Uuid, int], None] = {}
        self._watched: dict[tuple[str, Uuid, int], Partition] = {}
        self.waiting: WaitingFetch | None = None

    def look_at(self, named: Iterable[SessionPartition]) -> None:
        """These are to be looked at, whether or not they have news."""
        for each in named:
            self.changed[each.key] = None

    def watch(self, key: tuple[str, Uuid, int], partition: Partition) -> None:
        """Has the partition tell its news from now on."""
        known = self._watched.get(key)
        if known is partition:
            return
        if known is not None:
            known.forget(self)
        self._watched[key] = partition
        partition.when_appended(self, partial(self._has_records, key))
        partition.when_committed(self, partial(self._has_offsets, key))

    def forget(self, keys: list[tuple[str, Uuid, int]]) -> None:
        """The follower does not want these any more."""
        for key in keys:
            self.changed.pop(key, None)
            partition = self._watched.pop(key, None)
            if partition is not None:
                partition.forget(self)

    def close(self) -> None:
        self.forget(list(self._watched))

    def _has_offsets(self, key: tuple[str, Uuid, int], _size: int) -> None:
        """Another high watermark can wait until there is something else to tell."""
        self.changed[key] = None

    def _has_records(self, key: tuple[str, Uuid, int], _size: int) -> None:
        self.changed[key] = None
        if self.waiting is not None:
            self.waiting.has_news()
