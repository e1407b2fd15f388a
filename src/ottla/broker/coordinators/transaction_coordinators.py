"""The transaction coordinators of a node: one per partition of `__transaction_state` that it leads.

They share the marker sender, the producer ids and the metrics.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.broker.control.broker_peers import BrokerPeers
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.producer_ids import ProducerIds
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.marker_appending import MarkerAppender
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.coordinator.transactions.metrics import TransactionMetrics
from ottla.metadata.features import TRANSACTION_VERSION
from ottla.metrics import Metrics, Sample
from ottla.metrics.table import coordinators as table
from ottla.model.internal_topics import TRANSACTION_STATE
from ottla.replication.partition import Partition
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.records import Codec

if TYPE_CHECKING:
    from ottla.broker.coordinators.transaction_markers import MarkerSender
    from ottla.coordinator.runtime.state_machine import Timers
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator
    from ottla.coordinator.transactions.markers import TransactionMarkers

_JITTER: Final = 0.1


class TransactionCoordinators:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        peers: BrokerPeers,
        markers: MarkerAppender,
        producer_ids: ProducerIds,
        commit: GroupCommit,
        failures: StorageFailures,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        background: Background,
        metrics: Metrics,
    ) -> None:
        self._cluster = cluster
        self._peers = peers
        self._marker_appender = markers
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._producer_ids = producer_ids
        self._metrics = TransactionMetrics(metrics)
        metrics.measure(table.TRANSACTIONS_OLDEST_SECONDS, self._oldest_seconds)
        self._sender: MarkerSender | None = None
        self.shards: CoordinatorShards[TransactionCoordinator] = CoordinatorShards(
            cluster,
            commit,
            failures,
            clock,
            tasks,
            background,
            TRANSACTION_STATE,
            self._make_coordinator,
            write_timeout_ms=cluster.config.request_timeout_ms,
            load_bytes=cluster.config.transaction_state_log_load_buffer_size,
            codec=Codec.NONE,
        )

    def _make_coordinator(self, partition: Partition, timers: Timers) -> TransactionCoordinator:
        # Imported with the first partition, so that a node without transactions starts faster.
        from ottla.broker.coordinators.transaction_markers import MarkerSender
        from ottla.coordinator.transactions.context import TransactionContext
        from ottla.coordinator.transactions.coordinator import TransactionCoordinator
        from ottla.coordinator.transactions.settings import TransactionSettings

        if self._sender is None:
            self._sender = MarkerSender(
                self._cluster,
                self._peers,
                self._marker_appender,
                self._clock,
                self._dice,
                self._tasks,
            )
        return TransactionCoordinator(
            TransactionContext(
                timers,
                self._clock,
                self._sender.writer(
                    lambda: partition.leader_epoch,
                    partial(self._markers_written, partition.name.partition),
                ),
                self._metrics,
                self._producer_ids.take_nowait,
                lambda: TransactionSettings(self._cluster.config.values),
                lambda: self._cluster.metadata.image.features.get(TRANSACTION_VERSION, 0),
            )
        )

    def _markers_written(self, index: int, markers: TransactionMarkers) -> None:
        self.shards.perform(
            index,
            lambda machine: machine.complete(
                markers.transactional_id,
                producer_id=markers.producer_id,
                producer_epoch=markers.producer_epoch,
            ),
        )

    def leaders_changed(self) -> None:
        if self._sender is not None:
            self._sender.leaders_changed()

    def start(self) -> None:
        self._tasks.start("transactional id expiry", self._expire())

    def _oldest_seconds(self) -> Iterator[Sample]:
        now_ms = self._clock.now_ms()
        starts = [
            next(iter(shard.machine.open_since.values()), now_ms) for shard in self.shards.all
        ]
        yield (), max(now_ms - min(starts, default=now_ms), 0) / 1_000

    async def _expire(self) -> None:
        clock = self._clock
        while True:
            seconds = self._cluster.config.transaction_remove_expired_interval_ms / 1_000
            await clock.sleep(self._dice.jitter(seconds, fraction=_JITTER))
            for shard in self.shards.all:
                shard.perform(lambda machine: machine.expire())
                await clock.sleep(0)
