"""Fetches an offset range of one partition: whole record batches, without aborted transactions.

It sends the next Fetch request before it returns the last response, so that the request is served
while the caller decodes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from ottla.model import Buffer, ErrorCode, TopicPartition
from ottla.pipeline.reading.cluster import SourceCluster, require
from ottla.pipeline.reading.errors import ClusterError, DataLossError, UnreadableBatchError
from ottla.pipeline.reading.options import SourceOptions
from ottla.pipeline.reading.positions import EARLIEST
from ottla.pipeline.reading.ranges import OffsetRange
from ottla.pipeline.reading.topics import READ_COMMITTED, READ_UNCOMMITTED, list_offsets
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from ottla.wire.records.batch import iterate_batches, validate_batch
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.record import iterate_records

_log = logging.getLogger(__name__)

# The last version with topic names; old nodes support it too.
_FETCH_VERSION: Final = 12
_FETCH_WAIT_MS: Final = 500


class Fetched(NamedTuple):
    """Batches in offset order. The first may begin before `start`, and the last may end after the
    end of the range."""

    start: int
    headers: list[BatchHeader]
    batches: list[Buffer]


class RangeReader:
    """Reads a range from its start to its end, once. Belongs to the loop that runs `next`."""

    def __init__(
        self, cluster: SourceCluster, offset_range: OffsetRange, options: SourceOptions
    ) -> None:
        self._cluster = cluster
        self._range = offset_range
        self._options = options
        self._position = offset_range.start
        self._under_way: asyncio.Task[PartitionData] | None = None

    async def next(self) -> Fetched | None:
        """The next batches; None at the end of the range."""
        deadline = self._cluster.clock.monotonic() + self._options.poll_timeout_ms / 1_000
        while self._position < self._range.end:
            data = await (self._under_way or self._fetch(self._position))
            self._under_way = None
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                await self._skip_what_is_gone()
                continue
            start = self._position
            try:
                batches = list(iterate_batches(data.records or b""))
                if batches:
                    self._position = max(start, batches[-1][1].last_offset + 1)
                    await self._fetch_ahead()
                    return _committed(data, batches, start)
            except ProtocolError as error:
                raise UnreadableBatchError(
                    f"{self._name}: the data fetched from offset {start} on is corrupt: {error}"
                ) from error
            if self._cluster.clock.monotonic() > deadline:
                raise ClusterError(
                    f"{self._name} returned no records from offset {self._position} on for "
                    f"{self._options.poll_timeout_ms} ms, although its end offset is "
                    f"{self._range.end}"
                )
        return None

    async def _fetch_ahead(self) -> None:
        if self._position < self._range.end:
            self._under_way = asyncio.ensure_future(self._fetch(self._position))
            # Lets the new task run until it has sent its request.
            await self._cluster.clock.sleep(0)

    @property
    def _name(self) -> str:
        return f"{self._range.partition.topic}-{self._range.partition.partition}"

    async def _fetch(self, offset: int) -> PartitionData:
        return await fetch_partition(
            self._cluster,
            self._range.partition,
            offset,
            isolation=READ_COMMITTED if self._options.read_committed else READ_UNCOMMITTED,
            bytes_max=self._options.partition_fetch_bytes,
        )

    async def _skip_what_is_gone(self) -> None:
        partition, position = self._range.partition, self._position
        found = await list_offsets(self._cluster, {partition: EARLIEST}, isolation=READ_UNCOMMITTED)
        first = found[partition]
        if first <= position:
            gone = (
                f"{self._name} ends before offset {position}: was the topic deleted and "
                "created again?"
            )
            first = self._range.end
        else:
            gone = f"{self._name} has no offsets {position} to {min(first, self._range.end) - 1}"
        if self._options.fail_on_data_loss:
            raise DataLossError(
                f"{gone}. Records may have expired before they were read. With "
                "failOnDataLoss=false, the query continues with the records that are left"
            )
        _log.warning("%s; continuing at %d, because failOnDataLoss is false", gone, first)
        self._position = first


async def fetch_partition(
    cluster: SourceCluster,
    partition: TopicPartition,
    offset: int,
    *,
    isolation: int,
    bytes_max: int,
) -> PartitionData:
    """Fetches from the offset on. The caller handles OFFSET_OUT_OF_RANGE."""
    name = f"{partition.topic}-{partition.partition}"
    requested = FetchPartition(
        partition=partition.partition, fetch_offset=offset, partition_max_bytes=bytes_max
    )
    request = FetchRequest(
        max_wait_ms=_FETCH_WAIT_MS,
        min_bytes=1,
        max_bytes=bytes_max,
        isolation_level=isolation,
        topics=[FetchTopic(topic=partition.topic, partitions=[requested])],
    )

    async def attempt() -> PartitionData:
        link = await cluster.leader(partition)
        response: Any = await link.send_request(request, version_max=_FETCH_VERSION)
        require(response.error_code, f"fetching {name}")
        data: PartitionData = response.responses[0].partitions[0]
        if data.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
            require(data.error_code, f"fetching {name} from {offset}")
        return data

    return await cluster.persist(attempt)


def _committed(
    data: PartitionData, batches: Sequence[tuple[int, BatchHeader]], start: int
) -> Fetched:
    """Drops control batches and the batches of aborted transactions."""
    records = memoryview(data.records or b"")
    waiting = sorted(data.aborted_transactions or (), key=_first_offset, reverse=True)
    aborted: set[int] = set()
    fetched = Fetched(start, [], [])
    for position, header in batches:
        while waiting and waiting[-1].first_offset <= header.last_offset:
            aborted.add(waiting.pop().producer_id)
        batch = records[position : position + header.size_in_bytes]
        if header.is_control:
            if ControlRecordType.ABORT in control_types(batch):
                aborted.discard(header.producer_id)
        elif header.record_count and not (
            header.is_transactional and header.producer_id in aborted
        ):
            fetched.headers.append(_validated(batch, header))
            fetched.batches.append(batch)
    return fetched


def _validated(batch: Buffer, header: BatchHeader) -> BatchHeader:
    try:
        return validate_batch(batch, allow_gaps=True)
    except ProtocolError as error:
        raise ProtocolError(f"the batch at offset {header.base_offset}: {error}") from error


def _first_offset(aborted: AbortedTransaction) -> int:
    return aborted.first_offset


def control_types(batch: Buffer) -> Iterator[ControlRecordType]:
    """The types of a control batch's records."""
    return (read_control_type(record.key) for record in iterate_records(batch))
