"""Adds records to batches, and makes the batches ready: when they are full, or have lingered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ottla.client.cluster import ClientCluster
from ottla.client.errors import RecordTooLargeError, SerializationError
from ottla.client.producing.batch import (
    RECORD_OVERHEAD_BYTES_MAX,
    BatchFormat,
    Delivery,
    ProducerBatch,
)
from ottla.client.producing.memory import BufferMemory
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.client.producing.topic_queues import TopicQueues
from ottla.client.settings.producer import ProducerSettings
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.records.header import HEADER_BYTES

if TYPE_CHECKING:
    from ottla.client.producing.columns import TableRows
    from ottla.wire.records.row_batches import UnsealedBatch

Payload: TypeAlias = "bytes | bytearray | memoryview | str | None"
HeadersLike: TypeAlias = "Iterable[tuple[str, bytes | None]] | Mapping[str, bytes | None]"

_COLUMN_BATCH_BYTES: Final = 512 << 10
# Of a request around its batch.
_REQUEST_BYTES: Final = 1 << 10
# What a record without headers takes beside its key and value, nearly always.
_USUAL_OVERHEAD: Final = 16


class Accumulator:
    """Owned by a producer. `on_ready` gets each queue that has a batch to send."""

    def __init__(
        self,
        cluster: ClientCluster,
        settings: ProducerSettings,
        on_ready: Callable[[PartitionQueue], None],
        on_batch: Callable[[ProducerBatch], None],
    ) -> None:
        self.memory = BufferMemory(settings.buffer_memory)
        self.format = BatchFormat(
            settings.codec, settings.compression_level, settings.transactional_id is not None
        )
        self.topics: dict[str, TopicQueues] = {}
        # The topics whose metadata is kept fresh.
        self._watched: set[str] = set()
        # Set when a batch was full: the loop should have a turn before the next record.
        self.should_yield = False
        self._cluster = cluster
        self._settings = settings
        self._on_ready = on_ready
        self._on_batch = on_batch
        self._clock = cluster.clock
        self._now_ms = cluster.clock.now_ms
        # A table's rows are there at once, so its batches may be larger than those that linger.
        self.column_batch_bytes = min(
            max(settings.batch_size, _COLUMN_BATCH_BYTES),
            max(settings.max_request_size - _REQUEST_BYTES, 1),
            settings.buffer_memory,
        )
        self._batch_body_max = settings.batch_size - HEADER_BYTES
        self._linger_seconds = settings.linger_ms / 1_000
        self._delivery_seconds = settings.delivery_timeout_ms / 1_000
        cluster.on_metadata(self._metadata_changed)

    def append(
        self,
        topic: str,
        value: Payload,
        key: Payload,
        partition: int | None,
        timestamp: int | None,
        headers: HeadersLike | None,
    ) -> Delivery | int:
        """Adds a record. If that is not possible now, returns the bytes of memory to wait for; 0
        means that the topic is not known yet."""
        found = self.topics.get(topic)
        if found is None:
            return 0
        if value is not None and type(value) is not bytes:
            value = to_bytes(value, "value")
        if key is not None and type(key) is not bytes:
            key = to_bytes(key, "key")
        size = _USUAL_OVERHEAD + (len(value) if value else 0) + (len(key) if key else 0)
        pairs = None
        if headers:
            pairs = to_headers(headers)
            size += _headers_size(pairs)
        if partition is None and key is None and found.is_plain:
            queue = found.sticky
        else:
            queue = found.choose(key, partition)
        if timestamp is None:
            timestamp = self._now_ms()
        batch = queue.open
        if batch is None or len(batch.body) + size > self._batch_body_max:
            if batch is not None:
                self._full(found, queue, batch)
                if partition is None and key is None:
                    queue = found.choose(None, None)
            batch = queue.open
            if batch is None:
                made = self._begin(found, queue, size, timestamp)
                if isinstance(made, int):
                    return made
                batch = made
            elif len(batch.body) + size > self._batch_body_max:
                return self.append(topic, value, key, partition, timestamp, headers)
        index = batch.count
        batch.add(key, value, timestamp, pairs)
        return Delivery(batch, index, timestamp)

    def column_batches(self, topic: str, rows: TableRows) -> Iterator[UnsealedBatch]:
        """The batches of a table's rows. Raises ClientError for rows that cannot be written."""
        from ottla.client.producing.column_partitioner import ColumnPartitioner
        from ottla.client.producing.columns import ColumnLimits

        found = self.topics[topic]
        size = self.column_batch_bytes
        partitioner = ColumnPartitioner(first=found.queues.index(found.sticky), batch_bytes=size)
        limits = ColumnLimits(
            size, min(self._settings.max_request_size, self._settings.buffer_memory)
        )
        return rows.batches(partitioner, limits, topic=topic, count=len(found.queues))

    def add_rows(self, topic: str, rows: UnsealedBatch) -> ProducerBatch | None:
        """Adds a complete batch, behind all records of its partition so far. None if there is no
        memory for it now."""
        size = len(rows.body) + HEADER_BYTES
        if not self.memory.take_nowait(size):
            return None
        queue = self.topics[topic].queues[rows.target]
        self.close_open(queue)
        deadline = self._clock.monotonic() + self._delivery_seconds
        batch = ProducerBatch.of_rows(queue.partition, rows, self._now_ms(), deadline=deadline)
        queue.ready.append(batch)
        self._on_batch(batch)
        self._on_ready(queue)
        return batch

    def close_open(self, queue: PartitionQueue) -> None:
        """Makes the open batch of a queue ready, full or not."""
        if queue.open is not None:
            self.take_open(queue)
            self._on_ready(queue)

    def take_open(self, queue: PartitionQueue) -> None:
        """Makes the open batch ready for the sender, which sends it now."""
        batch = queue.open
        assert batch is not None
        queue.close_open()
        found = self.topics[queue.partition.topic]
        found.batch_closed(queue, len(batch.body), is_full=False)

    def close_all(self) -> None:
        for found in self.topics.values():
            for queue in found.queues:
                self.close_open(queue)

    def queue(self, partition: TopicPartition) -> PartitionQueue:
        return self.topics[partition.topic].queues[partition.partition]

    def queues(self) -> Iterable[PartitionQueue]:
        for found in self.topics.values():
            yield from found.queues

    def learn(self, topic: str) -> bool:
        """Makes the queues of a topic, if metadata has it."""
        if topic in self.topics:
            return True
        known = self._cluster.metadata.topics.get(topic)
        if known is None or not known.partitions:
            return False
        settings = self._settings
        self.topics[topic] = TopicQueues(
            topic,
            [self._queue(topic, index) for index in range(len(known.partitions))],
            self._cluster.dice,
            lambda queue: self._cluster.leader(queue.partition) is not None,
            batch_size=settings.batch_size,
            chooser=settings.partitioner,
            ignores_keys=settings.ignores_keys,
            is_adaptive=settings.is_adaptive,
        )
        self.topics[topic].last_used = self._clock.monotonic()
        self._watched.add(topic)
        self._drop_idle()
        return True

    def _begin(
        self, found: TopicQueues, queue: PartitionQueue, size: int, timestamp: int
    ) -> ProducerBatch | int:
        """An open batch, or the bytes of memory that it needs."""
        needed = max(self._settings.batch_size, size + RECORD_OVERHEAD_BYTES_MAX + HEADER_BYTES)
        if needed > self._settings.batch_size:
            self._require_size(size + RECORD_OVERHEAD_BYTES_MAX + HEADER_BYTES, found.topic)
        if not self.memory.take_nowait(needed):
            return needed
        now = self._clock.monotonic()
        found.last_used = now
        if found.topic not in self._watched:
            self._watched.add(found.topic)
            self._cluster.watch_topics(self._watched)
        batch = ProducerBatch(
            queue.partition, timestamp, deadline=now + self._delivery_seconds, reserved=needed
        )
        queue.open = batch
        self._on_batch(batch)
        # Without linger, records that are added before the loop's next turn share the batch.
        queue.linger = self._clock.call_later(
            self._linger_seconds, lambda: self._lingered(queue, batch)
        )
        return batch

    def _require_size(self, size: int, topic: str) -> None:
        settings = self._settings
        for name, limit in (
            ("max.request.size", settings.max_request_size),
            ("buffer.memory", settings.buffer_memory),
        ):
            if size > limit:
                raise RecordTooLargeError(
                    ErrorCode.MESSAGE_TOO_LARGE,
                    f"a record for {topic} takes {size} bytes, more than {name} ({limit})",
                )

    def _full(self, found: TopicQueues, queue: PartitionQueue, batch: ProducerBatch) -> None:
        queue.close_open()
        found.batch_closed(queue, len(batch.body), is_full=True)
        self.should_yield = True
        self._on_ready(queue)

    def _lingered(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        if queue.open is batch:
            # While it waits for its turn, it takes more records: the slower the answers are, the
            # larger are the batches.
            queue.is_due = True
            self._on_ready(queue)

    def _queue(self, topic: str, index: int) -> PartitionQueue:
        return PartitionQueue(
            TopicPartition(topic, index), self.format, in_flight_max=self._settings.in_flight_max
        )

    def _drop_idle(self) -> None:
        """Leaves topics that were not used for `metadata.max.idle.ms` out of the next refreshes.
        Their queues stay, since they have the sequence numbers."""
        oldest = self._clock.monotonic() - self._settings.metadata_max_idle_ms / 1_000
        for topic, found in self.topics.items():
            if found.last_used < oldest and not any(len(queue) for queue in found.queues):
                self._watched.discard(topic)
        self._cluster.watch_topics(self._watched)

    def _metadata_changed(self) -> None:
        """Makes queues for new partitions (KIP-195). A topic never has fewer, unless it was deleted
        and created again: then records for the others fail, since nothing leads them."""
        for topic, found in self.topics.items():
            known = self._cluster.metadata.topics.get(topic)
            if known is not None and len(known.partitions) > len(found.queues):
                more = range(len(found.queues), len(known.partitions))
                found.grow([*found.queues, *(self._queue(topic, index) for index in more)])


def to_bytes(payload: Any, what: str) -> bytes:
    if isinstance(payload, str):
        return payload.encode()
    if isinstance(payload, bytes | bytearray | memoryview):
        return bytes(payload)
    raise SerializationError(
        f"a {what} is of type {type(payload).__name__}; it must be bytes, str or None: encode it "
        "first, for example with json.dumps"
    )


def to_headers(headers: HeadersLike) -> list[tuple[str, bytes | None]]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    found = []
    for name, content in pairs:
        if not isinstance(name, str):
            raise SerializationError(f"a header's name is {name!r}; it must be str")
        found.append((name, None if content is None else to_bytes(content, "header")))
    return found


def _headers_size(headers: Iterable[tuple[str, bytes | None]]) -> int:
    return 5 + sum(10 + 4 * len(name) + len(content or b"") for name, content in headers)
