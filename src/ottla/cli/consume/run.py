"""Runs `ottla consume` without a group: reads the chosen partitions from a start position to their
end, or until Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from ottla.cli.connection.cluster_client import ConnectedCluster, refused_by_client
from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.consume.loop import read_until_done
from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.start_position import (
    Anchor,
    PartitionBounds,
    StartPosition,
    out_of_range_notices,
    resolve_start,
)
from ottla.cli.display.terminal import Terminal
from ottla.runtime.clock import Clock


class ConsumeRequest(NamedTuple):
    """What to read. Empty `partitions` stand for all; without `records_max` there is no limit."""

    topic: str
    partitions: tuple[int, ...]
    start: StartPosition
    follow: bool
    records_max: int | None


class Span(NamedTuple):
    """The offsets to read of a partition, from `start` up to, but not including, `end`."""

    start: int
    end: int


class Consumption:
    """One run over some partitions. Without `follow` it stops where they ended when it started."""

    def __init__(self, consumer: Consumer, request: ConsumeRequest, spans: dict[int, Span]) -> None:
        self.records = 0
        self.size_in_bytes = 0
        self._consumer = consumer
        self._topic = request.topic
        self._spans = spans
        self._follow = request.follow
        self._records_max = request.records_max
        self._unfinished = {
            partition
            for partition, span in spans.items()
            if request.follow or span.start < span.end
        }

    @property
    def records_expected(self) -> int | None:
        """The maximum number of records; None if there is no limit."""
        if self._follow:
            return self._records_max
        in_spans = sum(span.end - span.start for span in self._spans.values())
        return in_spans if self._records_max is None else min(in_spans, self._records_max)

    @property
    def is_done(self) -> bool:
        return not self._unfinished or self.records == self._records_max

    def begin(self) -> None:
        self._consumer.assign(
            [
                TopicPartition(self._topic, partition, self._spans[partition].start)
                for partition in self._unfinished
            ]
        )

    def take(self, messages: Sequence[Message], output: RecordOutput) -> None:
        for message in messages:
            if self.is_done:
                break
            error = message.error()
            if error is not None:
                self._take_event(message, error)
            elif self._is_in_range(message):
                output.append(message)
                self.records += 1
                self.size_in_bytes += len(message)

    def flushed(self) -> None:
        """Does nothing: without a group no offsets are committed."""

    def _is_in_range(self, message: Message) -> bool:
        """Whether to write the record, which may be after its partition's end. Also records that a
        partition is finished."""
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        if self._follow:
            return True
        end = self._spans[partition].end
        if offset >= end - 1:
            self._finish(partition)
        return offset < end

    def _take_event(self, message: Message, error: KafkaError) -> None:
        partition, offset = message.partition(), message.offset()
        if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's own naming
            raise refused_by_client(f"read {self._topic}-{partition}", error)
        # The last offsets may be transaction markers, which the client does not return as records:
        # only this event shows the end.
        assert partition is not None
        assert offset is not None
        if not self._follow and offset >= self._spans[partition].end:
            self._finish(partition)

    def _finish(self, partition: int) -> None:
        if partition in self._unfinished:
            self._unfinished.discard(partition)
            self._consumer.pause([TopicPartition(self._topic, partition)])


def run_consume(
    cluster: ConnectedCluster,
    terminal: Terminal,
    clock: Clock,
    request: ConsumeRequest,
    output: RecordOutput,
) -> None:
    partitions = cluster.partitions(request.topic, request.partitions)
    bounds = _bounds(cluster, request, partitions)
    for notice in out_of_range_notices(request.start, bounds):
        terminal.notice(notice)
    spans = {
        partition: Span(resolve_start(request.start, bound), bound.latest)
        for partition, bound in bounds.items()
    }
    watch = ConnectionWatch(clock, terminal, is_patient=request.follow)
    consumer = cluster.consumer({"error_cb": watch.on_error})
    reading = Consumption(consumer, request, spans)
    try:
        read_until_done(reading, consumer, output, terminal, clock, watch, title=request.topic)
    except KeyboardInterrupt:
        # With --follow Ctrl-C is the normal end.
        if not request.follow:
            raise
    finally:
        consumer.close()


def _bounds(
    cluster: ConnectedCluster, request: ConsumeRequest, partitions: list[int]
) -> dict[int, PartitionBounds]:
    earliest = cluster.earliest(request.topic, partitions)
    latest = cluster.last_stable(request.topic, partitions)
    found = (
        cluster.at_time(request.topic, partitions, request.start.number)
        if request.start.anchor is Anchor.TIME
        else {}
    )
    return {
        partition: PartitionBounds(
            earliest[partition],
            latest[partition],
            at_time=None if (record := found.get(partition)) is None else record.offset,
        )
        for partition in partitions
    }
