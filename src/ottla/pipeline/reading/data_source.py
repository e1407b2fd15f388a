"""The source classes that Spark calls, on the driver and in tasks, in different processes.

Only pickled state reaches another process: options and offset ranges. Spark calls from threads
without an event loop, so each call runs its own loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from ottla.client_security.node_channel import channel_security
from ottla.model import TopicPartition
from ottla.pipeline.reading.cluster import SourceCluster
from ottla.pipeline.reading.columns import SourceColumn, choose, to_ddl
from ottla.pipeline.reading.group_offsets import GroupOffsets, commit_offsets
from ottla.pipeline.reading.options import SourceOptions, parse_options
from ottla.pipeline.reading.positions import EARLIEST, LATEST, PerPartition, Position
from ottla.pipeline.reading.pushdown import Pushed, PushFilters
from ottla.pipeline.reading.ranges import OffsetRange, limit, split
from ottla.pipeline.reading.record_batches import RangeReader
from ottla.pipeline.reading.topics import find_partitions, resolve
from ottla.pipeline.spark_worker import set_aside
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork

T = TypeVar("T")

# The format of Spark's checkpoints: {"topic": {"0": 23}}.
Offsets: TypeAlias = dict[str, dict[str, int]]
# The longest time that a query waits for an offset commit.
_COMMIT_TIMEOUT_MS: Final = 5_000


class OttlaSource(DataSource):
    """`spark.read.format("ottla")` and `spark.readStream.format("ottla")`."""

    @classmethod
    def name(cls) -> str:
        return "ottla"

    def schema(self) -> str:
        headers = str(self.options.get("includeHeaders", "false")).strip().lower()
        return to_ddl(include_headers=headers == "true")

    def reader(self, schema: StructType) -> DataSourceReader:
        options = parse_options(self.options, is_streaming=False)
        return OttlaReader(options, choose(schema, include_headers=options.include_headers))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        options = parse_options(self.options, is_streaming=True)
        return OttlaStreamReader(options, choose(schema, include_headers=options.include_headers))


@dataclass
class RangePartition(InputPartition):
    """What one task reads."""

    range: OffsetRange


class OttlaReader(DataSourceReader):
    """Reads a batch. Its start and end offsets are resolved once, when it is planned."""

    def __init__(self, options: SourceOptions, columns: Sequence[SourceColumn]) -> None:
        self._options = options
        self._columns = columns
        self._pushed = Pushed()
        self.pushFilters = PushFilters(self._pushed)  # type: ignore[method-assign]

    def partitions(self) -> Sequence[InputPartition]:
        options, pushed = self._options, self._pushed

        async def plan(cluster: SourceCluster) -> list[OffsetRange]:
            found = await find_partitions(cluster, options.subscription)
            starts = await resolve(cluster, found, options.starting, options, is_start=True)
            ends = await resolve(cluster, found, options.ending, options, is_start=False)
            selected = [each for each in found if pushed.wants(each)]
            if pushed.timestamp_ms_min is not None:
                since = Position(pushed.timestamp_ms_min, is_timestamp=True)
                lenient = replace(options, is_late_timestamp_latest=True)
                times = await resolve(cluster, selected, since, lenient, is_start=True)
                starts |= {each: max(starts[each], times[each]) for each in selected}
            return [
                pushed.narrowed(OffsetRange(each, starts[each], ends[each])) for each in selected
            ]

        return _planned(with_cluster(options, plan), options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, RangePartition)
        return read_range(partition.range, self._options, self._columns)


class OttlaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a stream: micro-batches from one set of offsets to the next."""

    def __init__(self, options: SourceOptions, columns: Sequence[SourceColumn]) -> None:
        self._options = options
        self._columns = columns
        # The end offsets of an availableNow query, set before its first batch.
        self._last: PerPartition | None = None
        self._group: GroupOffsets | None = None
        if options.group_id is not None:
            self._group = GroupOffsets(self._commit, SystemClock().monotonic)

    def initialOffset(self) -> Offsets:  # noqa: N802 - Spark's name
        return to_json(self._resolved(self._options.starting, is_start=True))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        rows = self._options.offsets_per_trigger_max
        return ReadAllAvailable() if rows is None else ReadMaxRows(rows)

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        known = from_json(start)
        if self._group is not None:
            # Spark calls `latestOffset` after a batch has ended at `start`. It calls `commit` for
            # that batch only while it plans the one after, so never for the last batch.
            self._group.reached(known)
        end = self._latest() if self._last is None else self._last
        new = [partition for partition in end if partition not in known]
        if new:
            # New partitions are read from their beginning.
            known |= self._resolved(Position(EARLIEST), is_start=True, only=new)
        # An end offset that has decreased does not rewind the stream; a read reports the data loss.
        end = {each: max(offset, known[each]) for each, offset in end.items()}
        if isinstance(limit, ReadMaxRows):
            end = _limited(known, end, limit.max_rows)
        return to_json({**known, **end})

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        self._last = self._latest()

    def reportLatestOffset(self) -> Offsets | None:  # noqa: N802 - Spark's name
        return to_json(self._latest())

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        starts, ends = from_json(start), from_json(end)
        new = [partition for partition in ends if partition not in starts]
        if new:
            starts |= self._resolved(Position(EARLIEST), is_start=True, only=new)
        ranges = [OffsetRange(each, starts[each], ends[each]) for each in sorted(ends)]
        return _planned(ranges, self._options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, RangePartition)
        return read_range(partition.range, self._options, self._columns)

    def _commit(self, offsets: PerPartition) -> None:
        options, group_id = self._options, self._options.group_id
        assert group_id is not None
        timeout_ms = min(options.poll_timeout_ms, _COMMIT_TIMEOUT_MS)

        async def commit(cluster: SourceCluster) -> None:
            await commit_offsets(cluster, group_id, offsets)

        with_cluster(replace(options, poll_timeout_ms=timeout_ms), commit)

    def _latest(self) -> PerPartition:
        return self._resolved(Position(LATEST), is_start=False)

    def _resolved(
        self, position: Position, *, is_start: bool, only: Sequence[TopicPartition] | None = None
    ) -> PerPartition:
        options = self._options

        async def operation(cluster: SourceCluster) -> PerPartition:
            found: Sequence[TopicPartition] = only or ()
            if only is None:
                found = await find_partitions(cluster, options.subscription)
            return await resolve(cluster, found, position, options, is_start=is_start)

        return with_cluster(options, operation)


def with_cluster(options: SourceOptions, operation: Callable[[SourceCluster], Awaitable[T]]) -> T:
    async def run() -> T:
        async with _cluster(options) as cluster:
            return await operation(cluster)

    return asyncio.run(run())


def read_range(
    offset_range: OffsetRange, options: SourceOptions, columns: Sequence[SourceColumn]
) -> Iterator[pa.RecordBatch]:
    """Fetches and decodes in turns; the event loop runs only while it fetches."""
    # Imported here because it loads the compiled loops, which only tasks need.
    from ottla.pipeline.reading.arrow_rows import ArrowRows

    with asyncio.Runner() as runner:
        # The runner's own `run` installs a signal handler on each call, which costs time.
        run = runner.get_loop().run_until_complete
        cluster = _cluster(options)
        reader = RangeReader(cluster, offset_range, options)
        rows = ArrowRows(offset_range, columns, fail_on_data_loss=options.fail_on_data_loss)
        try:
            while (fetched := run(reader.next())) is not None:
                yield from rows.read(fetched)
                # Frees the buffer, into which the next response is received.
                del fetched
        finally:
            run(cluster.__aexit__())
            set_aside("loops of the source")


def _cluster(options: SourceOptions) -> SourceCluster:
    return SourceCluster(
        options.bootstrap,
        SystemNetwork(),
        SystemClock(),
        client_id=options.client_id,
        timeout_ms=options.poll_timeout_ms,
        security=channel_security(options.security),
    )


def _planned(ranges: Sequence[OffsetRange], options: SourceOptions) -> list[RangePartition]:
    pieces = split(
        ranges,
        partitions_min=options.partitions_min,
        records_max=options.records_per_partition_max,
    )
    return [RangePartition(each) for each in pieces]


def _limited(start: PerPartition, end: PerPartition, records_max: int) -> PerPartition:
    return limit(start, end, records_max=records_max)


def to_json(offsets: Mapping[TopicPartition, int]) -> Offsets:
    found: Offsets = {}
    for partition, offset in sorted(offsets.items()):
        found.setdefault(partition.topic, {})[str(partition.partition)] = offset
    return found


def from_json(offsets: Mapping[str, Mapping[str, Any]]) -> PerPartition:
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }
