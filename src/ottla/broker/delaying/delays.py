"""The held records of all partitions that this node leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ottla.broker.delaying.delay_metrics import DelayMetrics
from ottla.controller.quorum_seams import Seams
from ottla.metrics import Metrics
from ottla.metrics.table import delays as table
from ottla.model import TopicPartition
from ottla.replication.partition import Partition

if TYPE_CHECKING:
    from ottla.broker.delaying.delay_context import DelayContext
    from ottla.broker.delaying.held_partition import HeldPartition
    from ottla.broker.replicas.storage_failures import StorageFailures


class Delays:
    """A `LeadershipListener`. Nothing of it is loaded before a topic has delayed delivery. Owned by
    the node's loop."""

    def __init__(self, failures: StorageFailures, seams: Seams, metrics: Metrics) -> None:
        self._failures = failures
        self._seams = seams
        self._metrics = DelayMetrics(metrics)
        self._context: DelayContext | None = None
        self._held: dict[TopicPartition, HeldPartition] = {}
        metrics.measure(
            table.DELAYED_RECORDS, lambda: self._by_topic(lambda each: each.record_count)
        )
        metrics.measure(table.DELAYED_BYTES, lambda: self._by_topic(lambda each: each.size))

    def __iter__(self) -> Iterator[tuple[TopicPartition, HeldPartition]]:
        return iter(list(self._held.items()))

    def get(self, name: TopicPartition) -> HeldPartition | None:
        return self._held.get(name)

    def follow(self, partition: Partition) -> None:
        """Begins or ends to hold records of the partition: its leader, its log or its topic's
        configs may have changed."""
        log = partition.log
        delays = log is not None and partition.is_leader and log.config.delays
        held = self._held.get(partition.name)
        if held is not None and not (delays and held.log is log):
            held.close()
            del self._held[partition.name]
            held = None
        if held is None and delays and not self._seams.tasks.is_closed:
            assert log is not None
            try:
                self._hold(partition)
            except OSError as error:
                self._failures.partition_failed(partition, error)

    def forget(self, partition: Partition) -> None:
        held = self._held.pop(partition.name, None)
        if held is not None:
            held.close()

    def _hold(self, partition: Partition) -> None:
        from ottla.broker.delaying.delay_context import DelayContext
        from ottla.broker.delaying.held_partition import HeldPartition

        seams = self._seams
        if self._context is None:
            self._context = DelayContext(
                seams.clock, seams.tasks, seams.background, self._failures, self._metrics
            )
        held = HeldPartition(self._context, partition, partition.require_log())
        self._held[partition.name] = held
        held.start()

    def _by_topic(self, value: Callable[[HeldPartition], int]) -> list[tuple[tuple[str], float]]:
        found: dict[str, int] = {}
        for name, held in self._held.items():
            found[name.topic] = found.get(name.topic, 0) + value(held)
        return [((topic,), float(count)) for topic, count in found.items()]
