"""The producer for programs without an event loop.

`send` only puts the record in a queue; the loop's thread takes over as many as there are in one
turn. So a record costs no switch between threads.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Self, Unpack

from ottla.client.cluster import ClientSeams
from ottla.client.errors import BufferFullError, ClientError, IllegalStateError
from ottla.client.producing.accumulator import HeadersLike, Payload
from ottla.client.producing.batch import Delivery
from ottla.client.producing.columns_delivery import ColumnsDelivery, WrittenRows
from ottla.client.producing.producer import Producer as AsyncProducer
from ottla.client.records import ConsumerGroupMetadata, OffsetAndMetadata, RecordMetadata
from ottla.client.settings.producer import ProducerProperties
from ottla.client.sync.loop_thread import LoopThread
from ottla.model import TopicPartition

# Of the records that the loop's thread has not taken over yet.
_QUEUED_BYTES_MAX: Final = 4 << 20
_RECORD_BYTES: Final = 200


class PendingDelivery:
    """The delivery of one record."""

    __slots__ = ("_producer", "_record", "delivery", "error")

    def __init__(self, producer: Producer, record: tuple[Any, ...]) -> None:
        self._producer = producer
        self._record: tuple[Any, ...] | None = record
        self.delivery: Delivery | None = None
        self.error: Exception | None = None

    def take(self) -> tuple[Any, ...]:
        """The record, which is in a batch next."""
        record, self._record = self._record, None
        assert record is not None
        return record

    def done(self) -> bool:
        return self.error is not None or (self.delivery is not None and self.delivery.done())

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Waits for the acknowledgement. Raises the ClientError for which the record was not
        written, or TimedOutError after the timeout in seconds."""
        if self.error is None and (self.delivery is None or not self.delivery.done()):
            self._producer.wait_for(self, timeout)
        if self.error is not None:
            raise self.error
        assert self.delivery is not None
        return self.delivery.result()


class PendingColumns:
    """The delivery of a table."""

    def __init__(self, thread: LoopThread, delivery: ColumnsDelivery) -> None:
        self._thread = thread
        self._delivery = delivery

    def done(self) -> bool:
        return self._delivery.done()

    def result(self) -> list[WrittenRows]:
        """Waits for the acknowledgement of all rows. Raises ClientError."""

        async def wait() -> list[WrittenRows]:
            return await self._delivery

        return self._thread.run(wait)


class Producer:
    """`ottla.client.Producer` with methods that wait, for use in any thread.

    with Producer(bootstrap_servers="127.0.0.1:9092") as producer:
        delivery = producer.send("orders", b"value", key=b"key")
        print(delivery.result().offset)
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        /,
        *,
        seams: ClientSeams | None = None,
        **keywords: Unpack[ProducerProperties],
    ) -> None:
        """Raises ConfigError."""
        self._thread = thread = LoopThread.shared()
        self._producer = thread.call(lambda: AsyncProducer(properties, seams=seams, **keywords))
        self._queue: deque[PendingDelivery] = deque()
        self._queued_bytes = 0
        self._room = threading.Condition()
        self._is_taking = False
        self._is_closed = False
        # One coroutine at a time takes records over, so that they keep their order.
        self._turn = asyncio.Lock()
        self._taking: set[asyncio.Future[None]] = set()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_error: object) -> None:
        self.close(timeout=None if error_type is None else 0)

    def start(self) -> None:
        self._thread.run(self._producer.start)

    # ---- records

    def send(
        self,
        topic: str,
        value: Payload = None,
        *,
        key: Payload = None,
        partition: int | None = None,
        timestamp: int | None = None,
        headers: HeadersLike | None = None,
    ) -> PendingDelivery:
        """Hands a record over. Waits only while too many are waiting, for `max.block.ms` at
        most."""
        pending = PendingDelivery(self, (topic, value, key, partition, timestamp, headers))
        size = _RECORD_BYTES + (len(value) if value else 0)
        room = self._room
        with room:
            if self._queued_bytes > _QUEUED_BYTES_MAX:
                self._wait_room()
            if self._is_closed:
                raise IllegalStateError("the producer was closed")
            self._queued_bytes += size
            self._queue.append(pending)
            if self._is_taking:
                return pending
            self._is_taking = True
        self._thread.start(self._take_turn)
        return pending

    def send_and_wait(
        self,
        topic: str,
        value: Payload = None,
        *,
        key: Payload = None,
        partition: int | None = None,
        timestamp: int | None = None,
        headers: HeadersLike | None = None,
    ) -> RecordMetadata:
        """Sends a record and waits for its acknowledgement. Raises ClientError."""
        return self.send(
            topic, value, key=key, partition=partition, timestamp=timestamp, headers=headers
        ).result()

    def send_columns(
        self,
        topic: str,
        table: Any,
        *,
        value: str | None = "value",
        key: str | None = None,
        partition: str | None = None,
        timestamp: str | None = None,
        headers: str | None = None,
    ) -> PendingColumns:
        """Adds every row of a table as a record; see `ottla.client.Producer.send_columns`."""

        async def send() -> ColumnsDelivery:
            await self._taken_over()
            return await self._producer.send_columns(
                topic,
                table,
                value=value,
                key=key,
                partition=partition,
                timestamp=timestamp,
                headers=headers,
            )

        return PendingColumns(self._thread, self._thread.run(send))

    def flush(self, *, timeout: float | None = None) -> None:
        async def flush() -> None:
            await self._taken_over()
            await self._producer.flush(timeout=timeout)

        self._thread.run(flush)

    def partitions_for(self, topic: str, *, timeout: float | None = None) -> int:
        async def found() -> int:
            return await self._producer.partitions_for(topic, timeout=timeout)

        return self._thread.run(found)

    def metrics(self) -> dict[str, float]:
        return self._thread.call(self._producer.metrics)

    # ---- transactions

    def init_transactions(self, *, timeout: float | None = None) -> None:
        async def initialize() -> None:
            await self._producer.init_transactions(timeout=timeout)

        self._thread.run(initialize)

    def begin_transaction(self) -> None:
        async def begin() -> None:
            await self._taken_over()
            self._producer.begin_transaction()

        self._thread.run(begin)

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        group_metadata: ConsumerGroupMetadata,
        *,
        timeout: float | None = None,
    ) -> None:
        async def send() -> None:
            await self._taken_over()
            await self._producer.send_offsets_to_transaction(
                offsets, group_metadata, timeout=timeout
            )

        self._thread.run(send)

    def commit_transaction(self, *, timeout: float | None = None) -> None:
        async def commit() -> None:
            await self._taken_over()
            await self._producer.commit_transaction(timeout=timeout)

        self._thread.run(commit)

    def abort_transaction(self, *, timeout: float | None = None) -> None:
        async def abort() -> None:
            await self._taken_over()
            await self._producer.abort_transaction(timeout=timeout)

        self._thread.run(abort)

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """A transaction that is committed at the end of the block, and aborted if it raises."""
        self._thread.run(self._taken_over)
        whole = self._producer.transaction()
        self._thread.run(whole.__aenter__)
        try:
            yield self
            self._thread.run(self._taken_over)
        except BaseException as error:
            self._thread.run(whole.__aexit__, type(error), error, error.__traceback__)
            raise
        self._thread.run(whole.__aexit__, None, None, None)

    # ---- the end

    def close(self, *, timeout: float | None = None) -> None:
        with self._room:
            if self._is_closed:
                return
            self._is_closed = True

        async def close() -> None:
            if timeout is None:
                await self._taken_over()
            await self._producer.close(timeout=timeout)

        self._thread.run(close)

    def wait_for(self, pending: PendingDelivery, timeout: float | None) -> None:
        """Returns when a delivery is done. Raises TimedOutError."""
        self._thread.run(self._arrival, pending, timeout=timeout)

    # ---- in the loop's thread

    async def _taken_over(self) -> None:
        """Returns when all records that were handed over so far are in batches. A caller that
        stops waiting for that takes no record with it."""
        taking = asyncio.ensure_future(self._take_turn())
        self._taking.add(taking)
        taking.add_done_callback(self._taking.discard)
        await asyncio.shield(taking)

    async def _take_turn(self) -> None:
        async with self._turn:
            await self._take_all()

    async def _take_all(self) -> None:
        queue, send = self._queue, self._producer.send
        while True:
            taken = 0
            while queue:
                pending = queue.popleft()
                topic, value, key, partition, timestamp, headers = pending.take()
                try:
                    pending.delivery = await send(
                        topic,
                        value,
                        key=key,
                        partition=partition,
                        timestamp=timestamp,
                        headers=headers,
                    )
                except Exception as error:
                    # Of a partitioner, for example: it belongs to this record.
                    pending.error = error
                taken += _RECORD_BYTES + (len(value) if value else 0)
                if taken > _QUEUED_BYTES_MAX // 4:
                    break
            with self._room:
                self._queued_bytes -= taken
                self._room.notify_all()
                if not queue:
                    self._is_taking = False
                    return

    async def _arrival(self, pending: PendingDelivery) -> None:
        await self._taken_over()
        if pending.delivery is not None:
            try:
                await pending.delivery
            except ClientError:
                # `result` raises it.
                return

    def _wait_room(self) -> None:
        seconds = self._producer.settings.max_block_ms / 1_000
        if not self._room.wait_for(lambda: self._queued_bytes <= _QUEUED_BYTES_MAX, seconds):
            raise BufferFullError(
                f"cannot send: buffer.memory was full for max.block.ms ({seconds * 1_000:.0f})"
            )
