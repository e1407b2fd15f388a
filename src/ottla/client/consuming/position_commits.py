"""Commits a consumer's positions: by time, before partitions are given up, and at the end."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ottla.client.cluster import ClientCluster
from ottla.client.consuming.assignment import PartitionAssignment
from ottla.client.errors import ClientError
from ottla.client.groups.offsets import OffsetsOfGroup
from ottla.client.records import OffsetAndMetadata
from ottla.model import TopicPartition

_log = logging.getLogger(__name__)


class PositionCommits:
    """With an interval of None, only what the application commits is committed."""

    def __init__(
        self,
        cluster: ClientCluster,
        assignment: PartitionAssignment,
        offsets: OffsetsOfGroup | None,
        *,
        interval_ms: int | None,
        timeout_ms: int,
    ) -> None:
        self._cluster = cluster
        self._assignment = assignment
        self._offsets = offsets
        self._interval_ms = interval_ms
        self._timeout_ms = timeout_ms
        self._next_at = cluster.clock.monotonic() + (interval_ms or 0) / 1_000
        self._is_running = False
        # What was committed by time of the present assignment, which is not committed again.
        self._committed: dict[TopicPartition, OffsetAndMetadata] = {}

    def positions(self, names: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        found = {}
        for name in names:
            partition = self._assignment.get(name)
            position = None if partition is None else partition.position
            if position is not None:
                found[name] = OffsetAndMetadata(position.offset, position.leader_epoch)
        return found

    def maybe_commit(self) -> None:
        """Called when the application polls: it is done with what it got before."""
        if self._interval_ms is None or self._is_running:
            return
        now = self._cluster.clock.monotonic()
        if now >= self._next_at and not self._cluster.tasks.is_closed:
            self._next_at = now + self._interval_ms / 1_000
            changed = self._changed(self._assignment.names)
            if changed:
                self._is_running = True
                self._cluster.tasks.start("commit", self._commit_in_background(changed))

    async def commit_before_revocation(self, names: frozenset[TopicPartition]) -> None:
        if self._interval_ms is not None:
            await self._commit_quietly(self._changed(names))
        for name in names:
            self._committed.pop(name, None)

    async def _commit_in_background(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        try:
            await self._commit_quietly(offsets)
        finally:
            self._is_running = False

    async def _commit_quietly(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        """The next commit includes what this one could not commit."""
        assert self._offsets is not None
        deadline = self._cluster.clock.monotonic() + self._timeout_ms / 1_000
        try:
            await self._offsets.commit(offsets, deadline=deadline)
        except ClientError as error:
            _log.warning("cannot commit positions: %s", error)
        else:
            self._committed |= offsets

    def _changed(self, names: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        return {
            name: position
            for name, position in self.positions(names).items()
            if self._committed.get(name) != position
        }
