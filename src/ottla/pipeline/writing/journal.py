"""The journal: a compacted topic with the queries' decisions and the marks of their slots.

It is read with `read_uncommitted`: `read_committed` would stop at the first open transaction, which
may be one of this query's own slots. So the journal fetches all records and itself counts those of
a transaction only once it reads the commit marker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.model import Buffer, ErrorCode, Offset, TimestampMs, TopicPartition
from ottla.pipeline.reading.cluster import SourceCluster, require
from ottla.pipeline.reading.errors import ClusterError
from ottla.pipeline.reading.positions import EARLIEST, LATEST
from ottla.pipeline.reading.record_batches import control_types, fetch_partition
from ottla.pipeline.reading.topics import READ_UNCOMMITTED, list_offsets
from ottla.pipeline.writing.batch_sender import BatchSender
from ottla.pipeline.writing.decisions import (
    BatchDecision,
    Work,
    decode_decision,
    decode_mark,
    encode_decision,
    encode_mark,
)
from ottla.pipeline.writing.options import SinkOptions
from ottla.pipeline.writing.transactions import SinkProducer, SinkTransactions
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.builder import encode_records
from ottla.wire.records.control import ControlRecordType
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.murmur2 import murmur2
from ottla.wire.records.record import Record, iterate_records
from ottla.wire.records.row_batches import UnsealedBatch

_PARTITIONS: Final = 8
_DEFAULT_REPLICATION: Final = -1
# Small segments are compacted early, which keeps reads short.
_CONFIGS: Final = {
    "cleanup.policy": "compact",
    "segment.bytes": str(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.1",
}
_FIRST: Final = Offset(0)
_TIME_OF_BATCH: Final = TimestampMs(0)
_FETCH_BYTES: Final = 4 * 1024 * 1024
# A running query's last decision is usually among this many offsets before the end.
_TAIL: Final = 1_000


class Journal:
    """The journal of one query, in the partition that the query's id hashes to. Caches nothing."""

    def __init__(self, cluster: SourceCluster, work: Work, options: SinkOptions) -> None:
        self._cluster = cluster
        self._work = work
        self._options = options

    async def decision(self) -> BatchDecision | None:
        """The query's last decision."""
        partition = await self._partition()
        first, last = await self._bounds(partition)
        key = self._work.decision_key
        tail = max(first, last - _TAIL)
        found = (await self._read(partition, tail, last)).get(key)
        if found is None and tail > first:
            found = (await self._read(partition, first, last)).get(key)
        return None if found is None else decode_decision(found)

    async def marks(self, slots: Iterable[int]) -> dict[int, int]:
        """For each slot the last batch whose rows are committed."""
        partition = await self._partition()
        found = await self._read(partition, *await self._bounds(partition))
        keys = {slot: self._work.mark_key(slot) for slot in slots}
        return {slot: decode_mark(found[key]) for slot, key in keys.items() if key in found}

    async def write_mark(self, sender: BatchSender, slot: int) -> None:
        """Writes the mark in the same transaction as the sender's rows."""
        value = encode_mark(self._work.batch_id)
        await self._write(sender, self._work.mark_key(slot), value)

    async def write_decision(self, driver: SinkProducer, decision: BatchDecision) -> None:
        """Writes and commits the decision in the driver's own transaction. Raises FencedError if
        another driver of the same query has started after `driver`."""
        sender = BatchSender(self._cluster, driver, self._options)
        try:
            await self._write(sender, self._work.decision_key, encode_decision(decision))
            await sender.flush()
        finally:
            sender.close()
        await SinkTransactions(self._cluster).end(driver, commits=True)

    async def _write(self, sender: BatchSender, key: bytes, value: bytes) -> None:
        partition = await self._partition()
        record = Record(_FIRST, _TIME_OF_BATCH, key, value)
        body = encode_records([record], base_offset=_FIRST, base_timestamp=_TIME_OF_BATCH)
        await sender.add([partition])
        await sender.send(partition, UnsealedBatch(partition.partition, 1, body))

    async def _partition(self) -> TopicPartition:
        name = self._options.journal_topic
        (topic,) = (await self._cluster.metadata([name])).topics
        count = len(topic.partitions)
        if topic.error_code:
            is_missing = topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if is_missing:
                await self._create()

            async def attempt() -> int:
                (topic,) = (await self._cluster.metadata([name])).topics
                # This node may not have the new topic in its metadata yet.
                if is_missing and topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    topic.error_code = ErrorCode.LEADER_NOT_AVAILABLE
                require(topic.error_code, f"looking for the journal {name}")
                return len(topic.partitions)

            count = await self._cluster.persist(attempt)
        return TopicPartition(name, murmur2(self._work.query.encode()) % count)

    async def _create(self) -> None:
        topic = CreatableTopic(
            name=self._options.journal_topic,
            num_partitions=_PARTITIONS,
            replication_factor=_DEFAULT_REPLICATION,
            configs=[
                CreatableTopicConfig(name=name, value=value) for name, value in _CONFIGS.items()
            ],
        )

        async def attempt() -> None:
            link = await self._cluster.any()
            (result,) = (await link.send_request(CreateTopicsRequest(topics=[topic]))).topics
            if result.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
                require(result.error_code, f"creating {topic.name}: {result.error_message}")

        await self._cluster.persist(attempt)

    async def _bounds(self, partition: TopicPartition) -> tuple[int, int]:
        requested = [
            await list_offsets(self._cluster, {partition: position}, isolation=READ_UNCOMMITTED)
            for position in (EARLIEST, LATEST)
        ]
        first, last = (found[partition] for found in requested)
        return first, last

    async def _read(self, partition: TopicPartition, first: int, last: int) -> dict[bytes, bytes]:
        """The committed values of this query's keys in the range."""
        committed = CommittedRecords(self._work.decision_key)
        position = first
        deadline = self._cluster.clock.monotonic() + self._cluster.timeout_ms / 1_000
        while position < last:
            if self._cluster.clock.monotonic() > deadline:
                raise ClusterError(
                    f"{partition.topic}-{partition.partition} was not read up to {last} within "
                    f"{self._cluster.timeout_ms} ms, only up to {position}"
                )
            data = await fetch_partition(
                self._cluster,
                partition,
                position,
                isolation=READ_UNCOMMITTED,
                bytes_max=_FETCH_BYTES,
            )
            if data.error_code:
                code = ErrorCode(data.error_code)
                raise ClusterError(f"reading {partition.topic} at {position}: {code.name}", code)
            records = memoryview(data.records or b"")
            for at, header in iterate_batches(records):
                try:
                    committed.add(header, records[at : at + header.size_in_bytes])
                except ProtocolError as error:
                    raise ClusterError(
                        f"{partition.topic}-{partition.partition}: the batch at offset "
                        f"{header.base_offset} cannot be read: {error}"
                    ) from error
                position = max(position, header.last_offset + 1)
        return committed.values


class CommittedRecords:
    """The last committed value of each key of a query. Batches are added in log order."""

    def __init__(self, prefix: bytes) -> None:
        self.values: dict[bytes, bytes] = {}
        self._prefix = prefix
        self._open: dict[int, dict[bytes, bytes]] = defaultdict(dict)

    def add(self, header: BatchHeader, batch: Buffer) -> None:
        if not header.is_control:
            self._open[header.producer_id].update(self._mine(batch))
            return
        ended: Mapping[bytes, bytes] = self._open.pop(header.producer_id, {})
        if ControlRecordType.COMMIT in control_types(batch):
            self.values.update(ended)

    def _mine(self, batch: Buffer) -> Iterable[tuple[bytes, bytes]]:
        for record in iterate_records(batch):
            if record.key is not None and record.value is not None:
                owner, _, _ = record.key.partition(b"/")
                if owner == self._prefix:
                    yield record.key, record.value
