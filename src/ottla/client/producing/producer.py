"""The producer: one per application is enough, for any number of topics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, Unpack

from ottla.client.cluster import ClientCluster, ClientSeams, within
from ottla.client.errors import (
    BufferFullError,
    ClientError,
    IllegalStateError,
    TimedOutError,
    TransactionAbortedError,
    error_for,
)
from ottla.client.producing.accumulator import Accumulator, HeadersLike, Payload
from ottla.client.producing.batch import Delivery
from ottla.client.producing.columns_delivery import ColumnsDelivery
from ottla.client.producing.guarantees import DeliveryGuarantee, Idempotence, NoGuarantee
from ottla.client.producing.metrics import ProducerMetrics
from ottla.client.producing.sender import ProduceSender
from ottla.client.producing.transactions import (
    PreparedTransaction,
    ProducerTransactions,
    TransactionPhase,
)
from ottla.client.records import ConsumerGroupMetadata, OffsetAndMetadata, RecordMetadata
from ottla.client.settings.parsing import parse_properties
from ottla.client.settings.producer import (
    PRODUCER,
    ProducerProperties,
    ProducerSettings,
    producer_settings,
)
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.records.header import HEADER_BYTES

if TYPE_CHECKING:
    from ottla.wire.records.row_batches import UnsealedBatch


class Producer:
    """Writes records to topics. Used within `async with`, or between `start` and `close`.

        async with Producer(bootstrap_servers="127.0.0.1:9092") as producer:
            delivery = await producer.send("orders", b"value", key=b"key")
            metadata = await delivery

    `send` returns when the record is in a batch, and waits only while `buffer.memory` is full. The
    delivery that it returns may be awaited, kept for later or ignored; `flush` waits for all. By
    default every record is written once and in the order of the calls per partition, in spite of
    retries. With `transactional.id`, records are written in transactions.

    Owned by one event loop. `ottla.client.sync.Producer` is the same for programs without one.
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        /,
        *,
        seams: ClientSeams | None = None,
        **keywords: Unpack[ProducerProperties],
    ) -> None:
        """Raises ConfigError. Properties have Kafka's names; keywords have `_` in place of `.`."""
        seams = seams or ClientSeams.system()
        parsed = parse_properties(PRODUCER, properties, keywords, dice=seams.dice)
        self._settings = settings = producer_settings(parsed)
        self._cluster = cluster = ClientCluster(settings.cluster, seams)
        self._clock = seams.clock
        self._metrics = ProducerMetrics()
        self._sender = sender = ProduceSender(cluster, settings, self._metrics)
        self._accumulator = Accumulator(cluster, settings, sender.wake, sender.added)
        self._transactions = _transactions(settings, cluster, sender)
        sender.accumulator = self._accumulator
        sender.guarantee = self._transactions or _guarantee(settings, cluster, sender)
        self._is_closed = False

    @property
    def settings(self) -> ProducerSettings:
        """The properties, checked, with their defaults."""
        return self._settings

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, error_type: type[BaseException] | None, *_error: object) -> None:
        """Waits for all deliveries; after an exception only for those in flight."""
        await self.close(timeout=None if error_type is None else 0)

    async def start(self) -> None:
        """Connects when it is first used, so this does nothing yet."""
        self._require_usable()

    # ---- records

    async def send(
        self,
        topic: str,
        value: Payload = None,
        *,
        key: Payload = None,
        partition: int | None = None,
        timestamp: int | None = None,
        headers: HeadersLike | None = None,
    ) -> Delivery:
        """Adds a record to a batch. Awaiting the delivery waits for its acknowledgement.

        `str` is written as UTF-8; a value of None is a tombstone. The timestamp is in milliseconds
        since 1970, by default the current time. Raises BufferFullError or TimedOutError after
        `max.block.ms`, and IllegalStateError on a closed producer or outside a transaction.
        """
        if self._is_closed or self._transactions is not None:
            self._require_sendable()
        accumulator = self._accumulator
        delivery = accumulator.append(topic, value, key, partition, timestamp, headers)
        if isinstance(delivery, int):
            deadline = self._deadline(None)
            while isinstance(delivery, int):
                await self._wait_room(topic, delivery, deadline)
                delivery = accumulator.append(topic, value, key, partition, timestamp, headers)
        if accumulator.should_yield:
            # A loop that only sends would never let the batches go out.
            accumulator.should_yield = False
            await self._clock.sleep(0)
        return delivery

    async def send_and_wait(
        self,
        topic: str,
        value: Payload = None,
        *,
        key: Payload = None,
        partition: int | None = None,
        timestamp: int | None = None,
        headers: HeadersLike | None = None,
    ) -> RecordMetadata:
        """Like `send`, and waits for the acknowledgement. Raises the ClientError of a record that
        was not written."""
        delivery = await self.send(
            topic, value, key=key, partition=partition, timestamp=timestamp, headers=headers
        )
        return await delivery

    async def send_columns(
        self,
        topic: str,
        table: Any,
        *,
        value: str | None = "value",
        key: str | None = None,
        partition: str | None = None,
        timestamp: str | None = None,
        headers: str | None = None,
    ) -> ColumnsDelivery:
        """Adds every row of a table as a record, without an object for each: from a pyarrow Table
        or RecordBatch, a pandas or Polars DataFrame, or anything with Arrow's C stream.

        The arguments name columns: `value` and `key` of binary or strings, `partition` of integers
        (null: by the key), `timestamp` of milliseconds or Arrow timestamps, `headers` of lists of
        structs with `key` and `value`. Batches have up to 512 KiB, or `batch.size` if that is
        more. Waits like `send`; awaiting the delivery waits for all rows. Needs the extra
        `columns`.
        """
        self._require_sendable()
        # Imported late: only programs that have columns need the packages.
        from ottla.client.producing.columns import ColumnNames, TableRows

        rows = TableRows(table, ColumnNames(value, key, partition, timestamp, headers))
        await self._wait_topic(topic, self._deadline(None))
        return await self.send_batches(topic, self._accumulator.column_batches(topic, rows))

    async def send_batches(self, topic: str, batches: Iterable[UnsealedBatch]) -> ColumnsDelivery:
        """Adds batches whose records are encoded already. Not for applications."""
        self._require_sendable()
        await self._wait_topic(topic, self._deadline(None))
        accumulator, added = self._accumulator, []
        for unsealed in batches:
            deadline = self._deadline(None)
            while (batch := accumulator.add_rows(topic, unsealed)) is None:
                size = len(unsealed.body) + HEADER_BYTES
                await self._wait_room(topic, size, deadline)
            added.append((batch, unsealed.record_count))
            await self._clock.sleep(0)
        return ColumnsDelivery(added)

    async def flush(self, *, timeout: float | None = None) -> None:
        """Sends all batches at once and waits until their deliveries are decided. Errors are those
        of the deliveries; raises TimedOutError only if the time, in seconds, is not enough."""
        self._accumulator.close_all()
        waiting = self._wait_all()
        if timeout is None:
            await waiting
        else:
            deadline = self._clock.monotonic() + timeout
            await within(self._clock, deadline, waiting, what="flushing")

    async def partitions_for(self, topic: str, *, timeout: float | None = None) -> int:
        """The number of partitions of a topic."""
        await self._wait_topic(topic, self._deadline(timeout))
        return len(self._accumulator.topics[topic].queues)

    def metrics(self) -> dict[str, float]:
        """Counts since the start, under the names of Kafka's own producer."""
        memory = self._accumulator.memory
        return {
            **self._metrics.values(),
            "buffer-total-bytes": memory.bytes_max,
            "buffer-available-bytes": memory.free,
        }

    # ---- transactions

    async def init_transactions(self, *, timeout: float | None = None) -> None:
        """Fences earlier producers with this `transactional.id`, and completes or aborts what they
        left open. Called once, before the first transaction."""
        await self._required_transactions().initialize(deadline=self._deadline(timeout))

    def begin_transaction(self, *, is_prepared: bool = False) -> None:
        """Every record until `commit_transaction` is part of the transaction. `is_prepared`: it is
        to end with `prepare_transaction` instead."""
        self._required_transactions().begin(is_prepared=is_prepared)

    async def prepare_transaction(self) -> PreparedTransaction:
        """Waits for all records of the transaction and leaves it open, for a two-phase commit:
        another process ends it. Raises the error of a record that was not written. The producer
        can only be closed after this."""
        transactions = self._required_transactions()
        await self.flush()
        return transactions.prepare()

    async def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        group_metadata: ConsumerGroupMetadata,
        *,
        timeout: float | None = None,
    ) -> None:
        """Commits a consumer's offsets with the transaction: those of the next records to read."""
        positions = {
            partition: each if isinstance(each, OffsetAndMetadata) else OffsetAndMetadata(each)
            for partition, each in offsets.items()
        }
        transactions = self._required_transactions()
        if positions:
            await transactions.send_offsets(
                positions, group_metadata, deadline=self._deadline(timeout)
            )

    async def commit_transaction(self, *, timeout: float | None = None) -> None:
        """Waits for all records of the transaction, and commits it. Raises the error of a record
        that was not written: then the transaction has to be aborted. After a TimedOutError, call
        it again."""
        transactions = self._required_transactions()
        deadline = self._deadline(timeout)
        transactions.start_commit()
        self._accumulator.close_all()
        self._sender.wake_all()
        await within(self._clock, deadline, self._wait_all(), what="committing a transaction")
        await transactions.end(deadline=deadline)

    async def abort_transaction(self, *, timeout: float | None = None) -> None:
        """Drops the records that were not sent yet, and aborts the transaction."""
        transactions = self._required_transactions()
        deadline = self._deadline(timeout)
        transactions.start_abort()
        self._sender.fail_unsent(TransactionAbortedError("the transaction was aborted"))
        await within(self._clock, deadline, self._wait_all(), what="aborting a transaction")
        await transactions.end(deadline=deadline)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """A transaction that is committed at the end of the block, and aborted if it raises. The
        first one initializes the producer."""
        transactions = self._required_transactions()
        if not transactions.is_initialized:
            await self.init_transactions()
        transactions.begin()
        try:
            yield self
            await self.commit_transaction()
        except BaseException:
            if transactions.phase in (TransactionPhase.OPEN, TransactionPhase.ABORTABLE):
                await self.abort_transaction()
            raise

    # ---- the end

    async def close(self, *, timeout: float | None = None) -> None:
        """Sends what is left, waits for all deliveries and closes the connections. After the
        timeout, in seconds, the deliveries that are left fail. An open transaction is aborted."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._finish(timeout)
        finally:
            self._sender.fail_unsent(IllegalStateError("the producer was closed"))
            self._sender.close()
            await self._cluster.close()
            self._sender.fail_all(IllegalStateError("the producer was closed"))

    async def _finish(self, timeout: float | None) -> None:
        transactions = self._transactions
        try:
            if transactions is not None and transactions.phase in (
                TransactionPhase.OPEN,
                TransactionPhase.ABORTABLE,
            ):
                await self.abort_transaction(timeout=timeout)
            else:
                await self.flush(timeout=timeout)
        except ClientError:
            # Deliveries have their own errors; a transaction that is left open times out.
            return

    def _deadline(self, timeout: float | None) -> float:
        seconds = self._settings.max_block_ms / 1_000 if timeout is None else timeout
        return self._clock.monotonic() + seconds

    async def _wait_room(self, topic: str, size: int, deadline: float) -> None:
        if topic not in self._accumulator.topics:
            await self._wait_topic(topic, deadline)
            self._require_sendable()
            return
        try:
            await within(self._clock, deadline, self._accumulator.memory.wait(size), what="sending")
        except TimedOutError:
            raise BufferFullError(
                f"cannot send to {topic}: buffer.memory ({self._settings.buffer_memory} bytes) was "
                f"full for max.block.ms ({self._settings.max_block_ms})"
            ) from None
        self._require_sendable()

    async def _wait_topic(self, topic: str, deadline: float) -> None:
        if self._accumulator.learn(topic):
            return

        async def attempt() -> None:
            await self._cluster.refresh((topic,))
            if not self._accumulator.learn(topic):
                code = self._cluster.metadata.errors.get(topic, ErrorCode.LEADER_NOT_AVAILABLE)
                raise error_for(code, f"no metadata of the topic {topic}")

        await self._cluster.retrying(f"looking for the topic {topic}", attempt, deadline=deadline)
        self._require_usable()

    async def _wait_all(self) -> None:
        for batch in list(self._sender.unfinished):
            await batch.wait()

    def _require_usable(self) -> None:
        if self._is_closed:
            raise IllegalStateError("the producer was closed")

    def _require_sendable(self) -> None:
        self._require_usable()
        if self._transactions is not None:
            self._transactions.require_open()

    def _required_transactions(self) -> ProducerTransactions:
        if self._is_closed:
            raise IllegalStateError("the producer was closed")
        if self._transactions is None:
            raise IllegalStateError("the producer has no transactions: set transactional.id")
        return self._transactions


def _transactions(
    settings: ProducerSettings, cluster: ClientCluster, sender: ProduceSender
) -> ProducerTransactions | None:
    if settings.transactional_id is None:
        return None
    return ProducerTransactions(cluster, settings, sender.wake_all, sender.fail_unsent)


def _guarantee(
    settings: ProducerSettings, cluster: ClientCluster, sender: ProduceSender
) -> DeliveryGuarantee:
    if not settings.is_idempotent:
        return NoGuarantee()
    return Idempotence(cluster, sender.wake_all, sender.fail_unsent)
