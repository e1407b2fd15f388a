"""The transaction coordinators of a node: one for each partition of `__transaction_state` that it
leads, with what they share.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.metadata.features import TRANSACTION_VERSION
from ottla.model.internal_topics import TRANSACTION_STATE
from ottla.replication.partition import Partition
from ottla.runtime.background import Background
from ottla.wire.records import Codec

if TYPE_CHECKING:
    from ottla.broker.broker import Broker
    from ottla.broker.coordinators.transaction_markers import MarkerSender
    from ottla.coordinator.runtime.state_machine import Timers
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator
    from ottla.coordinator.transactions.markers import TransactionMarkers
    from ottla.coordinator.transactions.metrics import TransactionMetrics

_JITTER: Final = 0.1
_MEASURE_SECONDS: Final = 1.0


class TransactionCoordinators:
    """Made with the broker. Its tasks are the node's."""

    def __init__(self, broker: Broker, background: Background) -> None:
        self._broker = broker
        self._sender: MarkerSender | None = None
        self.shards: CoordinatorShards[TransactionCoordinator] = CoordinatorShards(
            broker,
            background,
            TRANSACTION_STATE,
            self._make_coordinator,
            write_timeout_ms=broker.config.request_timeout_ms,
            load_bytes=broker.config.transaction_state_log_load_buffer_size,
            codec=Codec.NONE,
        )

    def _make_coordinator(self, partition: Partition, timers: Timers) -> TransactionCoordinator:
        # Loaded with the first partition, as a node without transactions starts without them.
        from ottla.broker.coordinators.transaction_markers import MarkerSender
        from ottla.coordinator.transactions.context import TransactionContext
        from ottla.coordinator.transactions.coordinator import TransactionCoordinator
        from ottla.coordinator.transactions.metrics import TransactionMetrics
        from ottla.coordinator.transactions.settings import TransactionSettings

        broker = self._broker
        metrics = TransactionMetrics(broker.metrics)
        if self._sender is None:
            self._sender = MarkerSender(broker)
            broker.tasks.start("transaction metrics", self._measure(metrics))
        return TransactionCoordinator(
            TransactionContext(
                timers,
                broker.clock,
                self._sender.writer(
                    lambda: partition.leader_epoch,
                    partial(self._markers_written, partition.name.partition),
                ),
                metrics,
                broker.producer_ids.take_nowait,
                lambda: TransactionSettings(broker.config.values),
                lambda: broker.metadata.image.features.get(TRANSACTION_VERSION, 0),
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
        self._broker.tasks.start("transactional id expiry", self._expire())

    async def _measure(self, metrics: TransactionMetrics) -> None:
        """Keeps the age of the oldest transaction up to date."""
        clock = self._broker.clock
        while True:
            now_ms = clock.now_ms()
            starts = [
                next(iter(shard.machine.open_since.values()), now_ms) for shard in self.shards.all
            ]
            metrics.oldest_open_ms.set(max(now_ms - min(starts, default=now_ms), 0))
            await clock.sleep(_MEASURE_SECONDS)

    async def _expire(self) -> None:
        clock = self._broker.clock
        while True:
            seconds = self._broker.config.transaction_remove_expired_interval_ms / 1_000
            await clock.sleep(self._broker.dice.jitter(seconds, fraction=_JITTER))
            for shard in self.shards.all:
                shard.perform(lambda machine: machine.expire())
                await clock.sleep(0)
