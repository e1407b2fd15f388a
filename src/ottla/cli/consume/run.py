"""Runs `ottla consume` without a group: reads the chosen partitions from a start position to their
end, or until Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import NamedTuple

from ottla.cli.connection.admin_connection import doing, with_admin
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.connection_watch import ConnectionWatch, answers
from ottla.cli.connection.data_clients import new_consumer
from ottla.cli.connection.topic_lookup import (
    earliest_offsets,
    existing_partitions,
    last_stable_offsets,
    offsets_at_time,
)
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
from ottla.client.administration.admin import Admin
from ottla.client.consuming.consumer import Consumer
from ottla.client.records import ConsumedRecord
from ottla.model import TopicPartition
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

    async def begin(self) -> None:
        names = {partition: self._name(partition) for partition in self._unfinished}
        self._consumer.assign(names.values())
        for partition, name in names.items():
            self._consumer.seek(name, self._spans[partition].start)

    def take(self, records: Sequence[ConsumedRecord], output: RecordOutput) -> None:
        for record in records:
            if self.is_done:
                break
            if self._is_in_range(record):
                output.append(record)
                self.records += 1
                self.size_in_bytes += len(record.value or b"")

    async def flushed(self) -> None:
        """The last offsets may be transaction markers, which are no records: only the position
        shows the end."""
        if self._follow:
            return
        for partition in list(self._unfinished):
            if await self._consumer.position(self._name(partition)) >= self._spans[partition].end:
                self._finish(partition)

    def _is_in_range(self, record: ConsumedRecord) -> bool:
        """Whether to write the record, which may be after its partition's end. Also records that a
        partition is finished."""
        if self._follow:
            return True
        end = self._spans[record.partition].end
        if record.offset >= end - 1:
            self._finish(record.partition)
        return record.offset < end

    def _finish(self, partition: int) -> None:
        if partition in self._unfinished:
            self._unfinished.discard(partition)
            self._consumer.pause([self._name(partition)])

    def _name(self, partition: int) -> TopicPartition:
        return TopicPartition(self._topic, partition)


def run_consume(
    options: ClusterOptions,
    terminal: Terminal,
    clock: Clock,
    request: ConsumeRequest,
    output: RecordOutput,
) -> None:
    access = resolve(options)
    # With --follow Ctrl-C is the normal end.
    with suppress(KeyboardInterrupt) if request.follow else nullcontext():
        with_admin(
            options,
            terminal,
            lambda admin: _consume(admin, new_consumer(access), terminal, clock, request, output),
        )


async def _consume(
    admin: Admin,
    consumer: Consumer,
    terminal: Terminal,
    clock: Clock,
    request: ConsumeRequest,
    output: RecordOutput,
) -> None:
    partitions = await existing_partitions(admin, request.topic, request.partitions)
    bounds = await _bounds(admin, request, partitions)
    for notice in out_of_range_notices(request.start, bounds):
        terminal.notice(notice)
    spans = {
        partition: Span(resolve_start(request.start, bound), bound.latest)
        for partition, bound in bounds.items()
    }
    watch = ConnectionWatch(clock, terminal, lambda: answers(admin), is_patient=request.follow)
    reading = Consumption(consumer, request, spans)
    with doing(f"read {request.topic}"):
        async with consumer:
            await read_until_done(
                reading, consumer, output, terminal, clock, watch, title=request.topic
            )


async def _bounds(
    admin: Admin, request: ConsumeRequest, partitions: list[int]
) -> dict[int, PartitionBounds]:
    topic = request.topic
    earliest = await earliest_offsets(admin, topic, partitions)
    latest = await last_stable_offsets(admin, topic, partitions)
    found = (
        await offsets_at_time(admin, topic, partitions, request.start.number)
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
