"""The partitions that a group gives to a consumer and takes away, with commits and callbacks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from ottla.client.consuming.assignment import PartitionAssignment
from ottla.client.consuming.metrics import ConsumerMetrics
from ottla.client.consuming.rebalance_callbacks import RebalanceCallbacks, call
from ottla.client.errors import ClientError
from ottla.model import TopicPartition

_log = logging.getLogger(__name__)


class GroupPartitions:
    """A `PartitionOwner`. `commit` commits the positions of some partitions, if that is enabled;
    `on_change` is called when the assignment has changed."""

    def __init__(
        self,
        assignment: PartitionAssignment,
        metrics: ConsumerMetrics,
        *,
        commit: Callable[[frozenset[TopicPartition]], Awaitable[None]],
        on_change: Callable[[], None],
        fail: Callable[[ClientError], None],
    ) -> None:
        self.callbacks = RebalanceCallbacks()
        self._assignment = assignment
        self._metrics = metrics
        self._commit = commit
        self._on_change = on_change
        self._fail = fail

    @property
    def owned(self) -> frozenset[TopicPartition]:
        return self._assignment.names

    async def assign(self, added: frozenset[TopicPartition]) -> None:
        self._metrics.count("rebalance-total")
        partitions = self._assignment.add(added)
        for partition in partitions:
            # The callback may seek before anything is fetched.
            partition.is_starting = True
        self._on_change()
        try:
            await call(self.callbacks.on_assigned, added)
        finally:
            for partition in partitions:
                partition.is_starting = False
            self._on_change()

    async def revoke(self, partitions: frozenset[TopicPartition]) -> None:
        given_up = partitions & self.owned
        if not given_up:
            return
        for name in given_up:
            self._assignment.require(name).is_revoking = True
        try:
            await self._commit(given_up)
            await call(self.callbacks.on_revoked, given_up)
        finally:
            self._assignment.remove(given_up)
            self._on_change()

    async def lose(self, partitions: frozenset[TopicPartition]) -> None:
        lost = partitions & self.owned
        if not lost:
            return
        self._metrics.count("partitions-lost-total", len(lost))
        _log.info("lost the partitions %s", ", ".join(map(str, sorted(lost))))
        for name in lost:
            self._assignment.require(name).is_revoking = True
        try:
            await call(self.callbacks.on_lost or self.callbacks.on_revoked, lost)
        finally:
            self._assignment.remove(lost)
            self._on_change()

    def fail(self, error: ClientError) -> None:
        self._fail(error)
