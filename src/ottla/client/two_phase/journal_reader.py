"""Reads a partition of the journal as it is in the log, with control batches."""

from __future__ import annotations

from typing import Final

from ottla.client.cluster import ClientCluster, Lane
from ottla.client.errors import TimedOutError, require
from ottla.model import Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.wire.records.batch import iterate_batches, validate_batch

_EARLIEST: Final = -2
_LATEST: Final = -1
_CONSUMER: Final = -1
_READ_UNCOMMITTED: Final = 0
# The last version with topic names.
_FETCH_VERSION: Final = 12
_FETCH_BYTES: Final = 4 * 1024 * 1024
_FETCH_WAIT_MS: Final = 500


class JournalReader:
    """Each call is repeated for so many seconds. Raises ClientError."""

    def __init__(
        self, cluster: ClientCluster, partition: TopicPartition, *, seconds: float
    ) -> None:
        self.partition = partition
        self._cluster = cluster
        self._seconds = seconds

    async def bounds(self) -> tuple[int, int]:
        """The first offset, and the one after the last record."""
        return await self._offset(_EARLIEST), await self._offset(_LATEST)

    async def fetch(self, position: int, *, deadline: float) -> Buffer:
        """Batches from the one that contains the position on; empty if there are none yet."""
        if self._cluster.clock.monotonic() > deadline:
            raise TimedOutError(
                f"{self.partition} was not read in {self._seconds:.0f} s, only up to {position}"
            )
        what = f"fetching {self.partition} from {position}"
        requested = FetchPartition(
            partition=self.partition.partition,
            fetch_offset=position,
            partition_max_bytes=_FETCH_BYTES,
        )
        request = FetchRequest(
            max_wait_ms=_FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=_FETCH_BYTES,
            isolation_level=_READ_UNCOMMITTED,
            topics=[FetchTopic(topic=self.partition.topic, partitions=[requested])],
        )

        async def attempt() -> Buffer:
            leader = await self._cluster.wait_leader(self.partition, deadline=deadline)
            response: FetchResponse = await self._cluster.send(
                leader.node_id, request, lane=Lane.FETCH, version_max=_FETCH_VERSION
            )
            require(response.error_code, what)
            data = response.responses[0].partitions[0]
            require(data.error_code, what)
            return _sound(data.records or b"", what)

        return await self._cluster.retrying(what, attempt, deadline=deadline)

    async def _offset(self, timestamp: int) -> int:
        what = f"the offsets of {self.partition}"
        deadline = self._cluster.clock.monotonic() + self._seconds
        requested = ListOffsetsPartition(
            partition_index=self.partition.partition, timestamp=timestamp
        )
        request = ListOffsetsRequest(
            replica_id=_CONSUMER,
            isolation_level=_READ_UNCOMMITTED,
            topics=[ListOffsetsTopic(name=self.partition.topic, partitions=[requested])],
        )

        async def attempt() -> int:
            leader = await self._cluster.wait_leader(self.partition, deadline=deadline)
            response: ListOffsetsResponse = await self._cluster.send(leader.node_id, request)
            found = response.topics[0].partitions[0]
            require(found.error_code, what)
            return int(found.offset)

        return await self._cluster.retrying(what, attempt, deadline=deadline)


def _sound(records: Buffer, what: str) -> Buffer:
    """Raises KafkaError if the records were damaged on their way, as by a faulty disk: then they
    are fetched again. A damaged decision would commit the wrong transactions."""
    try:
        for at, header in iterate_batches(records):
            validate_batch(memoryview(records)[at : at + header.size_in_bytes], allow_gaps=True)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{what}: {error}") from error
    return records
