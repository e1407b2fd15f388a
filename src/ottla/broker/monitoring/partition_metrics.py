"""Metrics of the partitions on this node, their logs, and what replicates them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ottla.broker.broker import Broker
from ottla.broker.monitoring.pausing import count_of, in_steps
from ottla.metadata import PartitionRegistration
from ottla.metrics import Metrics, Sample
from ottla.metrics.table import replication, storage, topics
from ottla.replication.partition import Partition
from ottla.replication.topic_traffic import TopicTraffic
from ottla.storage.log.log import Log

_STEP: Final = 500


class PartitionMetrics:
    """Registers its sources when it is made."""

    def __init__(self, metrics: Metrics, broker: Broker) -> None:
        self._broker = broker
        self._measure_states(metrics)
        self._measure_replication(metrics)
        self._measure_logs(metrics)
        self._measure_traffic(metrics)

    def _measure_states(self, metrics: Metrics) -> None:
        partitions = self._broker.partitions
        metrics.measure(replication.PARTITIONS, lambda: [((), len(partitions))])
        for family, is_counted in (
            (replication.LEADER_PARTITIONS, lambda each: each.is_leader),
            (replication.OFFLINE_REPLICAS, lambda each: each.log is None),
            (replication.UNDER_REPLICATED_PARTITIONS, self._is_under_replicated),
            (replication.UNDER_MIN_ISR_PARTITIONS, lambda each: each.is_under_min_isr),
            (replication.AT_MIN_ISR_PARTITIONS, self._is_at_min_isr),
            (replication.REASSIGNING_PARTITIONS, self._is_reassigning),
        ):
            metrics.measure(family, _counting(self._broker, is_counted))

    def _measure_replication(self, metrics: Metrics) -> None:
        replicating, sessions = self._broker.replication, self._broker.fetch_sessions
        leader, follower = replicating.leader_throttle, replicating.follower_throttle
        changes = replicating.isr_changes
        metrics.measure(replication.REPLICATION_SENT_BYTES, lambda: [((), leader.total_bytes)])
        metrics.measure(
            replication.REPLICATION_RECEIVED_BYTES, lambda: [((), follower.total_bytes)]
        )
        metrics.measure(replication.FAILED_ISR_UPDATES, lambda: [((), changes.refused)])
        metrics.measure(replication.FETCHER_LAG, self._fetcher_lag)
        metrics.measure(replication.FETCHER_LAG_MAX, self._fetcher_lag_max)
        metrics.measure(replication.FETCHER_RESTING_PARTITIONS, self._resting)
        metrics.measure(replication.FETCH_SESSIONS, lambda: [((), len(sessions))])
        metrics.measure(
            replication.FETCH_SESSION_PARTITIONS, lambda: [((), sessions.partition_count)]
        )
        metrics.measure(replication.FETCH_SESSION_EVICTIONS, lambda: [((), sessions.evictions)])

    def _measure_logs(self, metrics: Metrics) -> None:
        metrics.measure(storage.LOG_SIZE, self._log_sizes)
        metrics.measure(storage.DELETED_LOG_SIZE, self._deleted_sizes)
        for family, value in (
            (storage.LOG_SEGMENTS, lambda log: len(log.segments)),
            (storage.LOG_START_OFFSET, lambda log: log.log_start_offset),
            (storage.LOG_END_OFFSET, lambda log: log.log_end_offset),
            (storage.HIGH_WATERMARK, lambda log: log.high_watermark),
        ):
            metrics.measure(family, _of_each_log(self._broker, value))
        metrics.measure(storage.PRODUCER_IDS, self._producer_ids)
        metrics.measure(storage.LOG_DIRECTORY_OFFLINE, self._directories)

    def _measure_traffic(self, metrics: Metrics) -> None:
        for family, value in (
            (topics.TOPIC_RECEIVED_BYTES, lambda each: each.received_bytes),
            (topics.TOPIC_RECEIVED_RECORDS, lambda each: each.received_records),
            (topics.TOPIC_SENT_BYTES, lambda each: each.sent_bytes),
            (topics.TOPIC_SENT_RECORDS, lambda each: each.sent_records),
            (topics.TOPIC_REJECTED_BYTES, lambda each: each.rejected_bytes),
            (topics.TOPIC_PRODUCE_REQUESTS, lambda each: each.produces),
            (topics.TOPIC_FAILED_PRODUCE_REQUESTS, lambda each: each.failed_produces),
            (topics.TOPIC_FETCH_REQUESTS, lambda each: each.fetches),
            (topics.TOPIC_FAILED_FETCH_REQUESTS, lambda each: each.failed_fetches),
        ):
            metrics.measure(family, _of_each_topic(self._broker, value))

    # ---- states

    def _registration(self, partition: Partition) -> PartitionRegistration | None:
        topic = self._broker.cluster.image.topics.by_id.get(partition.topic_id)
        return None if topic is None else topic.partitions.get(partition.name.partition)

    def _is_under_replicated(self, partition: Partition) -> bool:
        if not partition.is_leader or (found := self._registration(partition)) is None:
            return False
        return len(partition.isr) < len(found.replicas)

    def _is_at_min_isr(self, partition: Partition) -> bool:
        if not partition.is_leader or (found := self._registration(partition)) is None:
            return False
        return len(partition.isr) == min(partition.min_insync_replicas, len(found.replicas))

    def _is_reassigning(self, partition: Partition) -> bool:
        if not partition.is_leader or (found := self._registration(partition)) is None:
            return False
        return bool(found.adding_replicas or found.removing_replicas)

    # ---- replication

    def _fetcher_lag(self) -> Iterator[Sample]:
        for leader, fetcher in self._broker.replication.fetchers.by_leader:
            for (topic, index), lag in fetcher.lags:
                yield (str(leader), topic, str(index)), lag

    def _fetcher_lag_max(self) -> Iterator[Sample | None]:
        for leader, fetcher in self._broker.replication.fetchers.by_leader:
            largest = 0
            for number, (_, lag) in enumerate(fetcher.lags):
                largest = max(largest, lag)
                if number % _STEP == 0:
                    yield None
            yield (str(leader),), largest

    def _resting(self) -> Iterator[Sample]:
        for leader, fetcher in self._broker.replication.fetchers.by_leader:
            yield (str(leader),), fetcher.resting_count

    # ---- logs

    def _log_sizes(self) -> Iterator[Sample]:
        for directory in self._broker.logs.directories:
            for (topic, index), log in list(directory.logs.items()):
                yield (topic, str(index), directory.path), log.segments.size
            for name in list(directory.futures):
                future = directory.futures.get(name)
                if future is not None:
                    labels = (name.topic, str(name.partition), directory.path)
                    yield labels, future.segments.size

    def _deleted_sizes(self) -> Iterator[Sample]:
        for directory in self._broker.logs.directories:
            yield (directory.path,), directory.deleted.size

    def _producer_ids(self) -> Iterator[Sample | None]:
        count = 0
        for directory in self._broker.logs.directories:
            for log in in_steps(directory.logs.values()):
                if log is None:
                    yield None
                else:
                    count += len(log.producers.state.entries)
        yield (), count

    def _directories(self) -> Iterator[Sample]:
        for directory in self._broker.logs.directories:
            yield (directory.path,), 0
        for path in self._broker.logs.failed:
            yield (path,), 1


def _counting(
    broker: Broker, is_counted: Callable[[Partition], bool]
) -> Callable[[], Iterator[Sample | None]]:
    return lambda: count_of(broker.partitions, is_counted)


def _of_each_log(broker: Broker, value: Callable[[Log], int]) -> Callable[[], Iterator[Sample]]:
    def read() -> Iterator[Sample]:
        for partition in list(broker.partitions):
            if partition.log is not None:
                topic, index = partition.name
                yield (topic, str(index)), value(partition.log)

    return read


def _of_each_topic(
    broker: Broker, value: Callable[[TopicTraffic], int]
) -> Callable[[], Iterator[Sample]]:
    def read() -> Iterator[Sample]:
        for topic, traffic in broker.partitions.traffic:
            yield (topic,), value(traffic)

    return read
