"""The journal: a compacted topic with the queries' decisions and the marks of their slots.

It is read with `read_uncommitted`: `read_committed` would stop at the first open transaction, which
may be one of this query's own slots. So the journal fetches all records and itself counts those of
a transaction only once it reads the commit marker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.client.errors import ClientError, error_for, require
from ottla.client.producing.producer import Producer
from ottla.client.two_phase.decisions import (
    BatchDecision,
    Work,
    decode_decision,
    decode_mark,
    encode_decision,
    encode_mark,
)
from ottla.client.two_phase.journal_reader import JournalReader
from ottla.client.two_phase.prepared_transactions import fenced_by_newer
from ottla.client.two_phase.two_phase_client import TwoPhaseClient
from ottla.model import Buffer, ErrorCode, TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.murmur2 import murmur2
from ottla.wire.records.record import iterate_records

_PARTITIONS: Final = 8
_DEFAULT_REPLICATION: Final = -1
# Small segments are compacted early, which keeps reads short.
_CONFIGS: Final = {
    "cleanup.policy": "compact",
    "segment.bytes": str(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.1",
}
# A running query's last decision is usually among this many offsets before the end.
_TAIL: Final = 1_000


class Journal:
    """The journal of one query, in the partition that the query's id hashes to. Caches nothing.
    Raises ClientError."""

    def __init__(self, client: TwoPhaseClient, work: Work) -> None:
        self._client = client
        self._cluster = client.cluster
        self._work = work
        self._topic = client.journal_topic

    async def decision(self) -> BatchDecision | None:
        """The query's last decision."""
        reader = await self._reader()
        first, last = await reader.bounds()
        key = self._work.decision_key
        tail = max(first, last - _TAIL)
        found = (await self._read(reader, tail, last)).get(key)
        if found is None and tail > first:
            found = (await self._read(reader, first, last)).get(key)
        return None if found is None else decode_decision(found)

    async def marks(self, slots: Iterable[int]) -> dict[int, int]:
        """For each slot the last batch whose rows are committed."""
        reader = await self._reader()
        found = await self._read(reader, *await reader.bounds())
        keys = {slot: self._work.mark_key(slot) for slot in slots}
        return {slot: decode_mark(found[key]) for slot, key in keys.items() if key in found}

    async def write_mark(self, producer: Producer, slot: int) -> None:
        """Writes the mark in the same transaction as the producer's rows."""
        value = encode_mark(self._work.batch_id)
        await self._write(producer, self._work.mark_key(slot), value)

    async def write_decision(self, driver: Producer, decision: BatchDecision) -> None:
        """Writes and commits the decision in the driver's own transaction. Raises FencedError if
        another driver of the same query has started after `driver`."""
        with fenced_by_newer(self._work.driver_transactional_id):
            await self._write(driver, self._work.decision_key, encode_decision(decision))
            prepared = await driver.prepare_transaction()
        await self._client.transactions.end(prepared, commits=True)

    async def _write(self, producer: Producer, key: bytes, value: bytes) -> None:
        topic, partition = await self._partition()
        await producer.send_and_wait(topic, value, key=key, partition=partition)

    async def _reader(self) -> JournalReader:
        return JournalReader(self._cluster, await self._partition(), seconds=self._client.seconds)

    async def _partition(self) -> TopicPartition:
        metadata = self._cluster.metadata
        if self._topic not in metadata.topics:
            await self._look_up()
        count = len(self._cluster.metadata.topics[self._topic].partitions)
        return TopicPartition(self._topic, murmur2(self._work.query.encode()) % count)

    async def _look_up(self) -> None:
        """Creates the topic if it does not exist."""
        cluster, name = self._cluster, self._topic
        is_created = False

        async def attempt() -> None:
            nonlocal is_created
            await cluster.refresh((name,))
            if name in cluster.metadata.topics:
                return
            code = cluster.metadata.errors.get(name, ErrorCode.LEADER_NOT_AVAILABLE)
            if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not is_created:
                await self._create()
                is_created = True
            raise error_for(code, f"looking for the journal {name}")

        what = f"looking for the journal {name}"
        await cluster.retrying(what, attempt, deadline=self._client.deadline())

    async def _create(self) -> None:
        topic = CreatableTopic(
            name=self._topic,
            num_partitions=_PARTITIONS,
            replication_factor=_DEFAULT_REPLICATION,
            configs=[
                CreatableTopicConfig(name=name, value=value) for name, value in _CONFIGS.items()
            ],
        )
        response = await self._cluster.send_to_controller(CreateTopicsRequest(topics=[topic]))
        (result,) = response.topics
        if result.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
            require(result.error_code, f"creating {topic.name}", result.error_message)

    async def _read(self, reader: JournalReader, first: int, last: int) -> dict[bytes, bytes]:
        """The committed values of this query's keys in the range."""
        committed = CommittedRecords(self._work.decision_key)
        position, deadline = first, self._client.deadline()
        while position < last:
            records = memoryview(await reader.fetch(position, deadline=deadline))
            for at, header in iterate_batches(records):
                try:
                    committed.add(header, records[at : at + header.size_in_bytes])
                except ProtocolError as error:
                    raise ClientError(
                        f"{reader.partition}: the batch at offset {header.base_offset} cannot be "
                        f"read: {error}"
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
        types = {read_control_type(record.key) for record in iterate_records(batch)}
        if ControlRecordType.COMMIT in types:
            self.values.update(ended)

    def _mine(self, batch: Buffer) -> Iterable[tuple[bytes, bytes]]:
        for record in iterate_records(batch):
            if record.key is not None and record.value is not None:
                owner, _, _ = record.key.partition(b"/")
                if owner == self._prefix:
                    yield record.key, record.value
