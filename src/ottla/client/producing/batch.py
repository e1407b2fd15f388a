"""A batch of a producer: records are encoded as they are added, and nothing else is kept of them.

    open ──full, lingered or flushed──▶ ready ──sent──▶ outstanding ──acknowledged──▶ done
                                          │                  │ ▲                        ▲
                                          │                  ╰─╯ sent again             │
                                          ╰───────────── failed or expired ─────────────╯

A sealed batch has its header and its sequence number; if they change, because the producer goes on
under another epoch, it is sealed again. A batch that is too large for its topic is split, and its
parts are done in its place.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Generator, Iterable
from struct import Struct as Layout
from typing import Any, Final, NamedTuple, Protocol

from crc32c import crc32c

from ottla.client.errors import ClientError
from ottla.client.records import RecordMetadata
from ottla.model import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Buffer,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
    TopicPartition,
)
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import (
    ATTRIBUTES_AT,
    CRC_AT,
    HEADER_BYTES,
    MAGIC,
    BatchHeader,
    encode_attributes,
    increment_sequence,
)
from ottla.wire.records.record import iterate_records
from ottla.wire.varint import ZIGZAG_ENCODINGS, encode_varint, encode_varlong

# Size, attributes, timestamp, offset, the lengths of key and value and the count of headers.
RECORD_OVERHEAD_BYTES_MAX: Final = 5 + 1 + 10 + 5 + 5 + 5 + 5
_NULL: Final = b"\x01"
_NO_HEADERS: Final = b"\x00"
_PRODUCER_AT: Final = 43
_PRODUCER: Final = Layout(">qhi")
_CRC: Final = Layout(">I")


class ProducerIdentity(NamedTuple):
    """A producer id and epoch, under which sequence numbers count."""

    producer_id: ProducerId
    epoch: ProducerEpoch


NO_IDENTITY: Final = ProducerIdentity(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


class BatchFormat(NamedTuple):
    """What the batches of a producer have in common."""

    codec: Codec = Codec.NONE
    compression_level: int | None = None
    is_transactional: bool = False


class EncodedRows(Protocol):
    """See wire/records/row_batches.py, which needs numpy."""

    @property
    def record_count(self) -> int: ...
    @property
    def body(self) -> Buffer: ...
    @property
    def base_timestamp(self) -> int | None: ...
    @property
    def max_timestamp(self) -> int | None: ...


class ProducerBatch:
    """Records for one partition. `deadline` is in the clock's monotonic seconds."""

    __slots__ = (
        "_done",
        "_error",
        "_parts",
        "attempts",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "body",
        "count",
        "deadline",
        "identity",
        "is_done",
        "is_failed",
        "is_in_flight",
        "log_append_time",
        "max_timestamp",
        "partition",
        "reserved",
        "sealed",
    )

    def __init__(
        self, partition: TopicPartition, timestamp: int, *, deadline: float, reserved: int
    ) -> None:
        self.partition = partition
        self.body: bytearray | Buffer = bytearray()
        self.count = 0
        self.base_timestamp = self.max_timestamp = timestamp
        self.deadline = deadline
        # Bytes of the producer's memory.
        self.reserved = reserved
        self.sealed: bytearray | None = None
        self.identity = NO_IDENTITY
        self.base_sequence = NO_SEQUENCE
        self.attempts = 0
        self.is_in_flight = False
        # Sent, and to be sent again.
        self.is_failed = False
        # The deliveries are decided. A batch that expired may still be in flight.
        self.is_done = False
        self.base_offset = -1
        self.log_append_time = -1
        self._error: ClientError | None = None
        self._done: asyncio.Future[None] | None = None
        self._parts: list[tuple[int, ProducerBatch]] = []

    @classmethod
    def of_rows(
        cls, partition: TopicPartition, rows: EncodedRows, now_ms: int, *, deadline: float
    ) -> ProducerBatch:
        """A complete batch of records that are encoded already."""
        base = now_ms if rows.base_timestamp is None else rows.base_timestamp
        batch = cls(partition, base, deadline=deadline, reserved=len(rows.body) + HEADER_BYTES)
        if rows.max_timestamp is not None:
            batch.max_timestamp = rows.max_timestamp
        # A copy, because the memory of the loop's result is that of many batches.
        batch.body = bytearray(rows.body)
        batch.count = rows.record_count
        return batch

    @property
    def size(self) -> int:
        """Bytes that it takes in a request, or would take without compression."""
        return len(self.body) + HEADER_BYTES if self.sealed is None else len(self.sealed)

    @property
    def last_sequence(self) -> int:
        return increment_sequence(self.base_sequence, by=self.count - 1)

    def add(
        self,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> None:
        """Called for each record: tables instead of calls."""
        known = ZIGZAG_ENCODINGS
        count = self.count
        delta = timestamp - self.base_timestamp
        if timestamp > self.max_timestamp:
            self.max_timestamp = timestamp
        try:
            if key is None and value is not None and not headers and delta >= 0:
                record = b"".join(
                    (
                        b"\x00",
                        known[delta],
                        known[count],
                        _NULL,
                        known[len(value)],
                        value,
                        _NO_HEADERS,
                    )
                )
            elif key is not None and value is not None and not headers and delta >= 0:
                record = b"".join(
                    (
                        b"\x00",
                        known[delta],
                        known[count],
                        known[len(key)],
                        key,
                        known[len(value)],
                        value,
                        _NO_HEADERS,
                    )
                )
            else:
                record = _encoded(key, value, headers, delta, count)
            self.body += known[len(record)]  # type: ignore[operator]
        except IndexError:
            record = _encoded(key, value, headers, delta, count)
            self.body += encode_varint(len(record))  # type: ignore[operator]
        self.body += record
        self.count = count + 1

    def seal(self, how: BatchFormat, identity: ProducerIdentity, base_sequence: int) -> None:
        """Makes the bytes to send. Called again with another identity or sequence number."""
        self.identity, self.base_sequence = identity, base_sequence
        if self.sealed is None:
            header = BatchHeader(
                Offset(0),
                0,
                NO_LEADER_EPOCH,
                MAGIC,
                0,
                encode_attributes(codec=how.codec, is_transactional=how.is_transactional),
                self.count - 1,
                TimestampMs(self.base_timestamp),
                TimestampMs(self.max_timestamp),
                identity.producer_id,
                identity.epoch,
                base_sequence,
                self.count,
            )
            self.sealed = seal_batch(header, self.body, compression_level=how.compression_level)
            self.body = b""
        else:
            # A connection that is being closed may still hold the old bytes.
            sealed = bytearray(self.sealed)
            _PRODUCER.pack_into(sealed, _PRODUCER_AT, *identity, base_sequence)
            _CRC.pack_into(sealed, CRC_AT, crc32c(memoryview(sealed)[ATTRIBUTES_AT:]))
            self.sealed = sealed

    def split(self) -> list[ProducerBatch]:
        """Two batches with half of the records each. This one is done when both are."""
        assert self.sealed is not None
        assert self.count > 1
        middle = self.count // 2
        parts = []
        for index, record in enumerate(iterate_records(self.sealed)):
            if index in (0, middle):
                part = ProducerBatch(
                    self.partition, record.timestamp, deadline=self.deadline, reserved=0
                )
                parts.append(part)
                self._parts.append((index, part))
            part.add(record.key, record.value, record.timestamp, record.headers)
        first, second = parts
        # The parts share the memory of the whole.
        first.reserved = self.reserved // 2
        second.reserved = self.reserved - first.reserved
        self.reserved = 0
        return parts

    # ---- deliveries

    def complete(self, base_offset: int, log_append_time: int) -> None:
        if not self.is_done:
            self.base_offset, self.log_append_time = base_offset, log_append_time
            self._finish()

    def fail(self, error: ClientError) -> None:
        if not self.is_done:
            self._error = error
            self._finish()

    @property
    def is_awaited(self) -> bool:
        return self._done is not None

    @property
    def error(self) -> ClientError | None:
        return self._error

    async def wait(self) -> None:
        """Returns when the deliveries are decided; raises nothing but cancellation."""
        for _, part in self._parts:
            await part.wait()
        if not self.is_done and not self._parts:
            if self._done is None:
                self._done = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._done)
            # It may have been split meanwhile.
            await self.wait()

    def hand_over(self) -> None:
        """Lets those that wait for this batch wait for its parts."""
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    def metadata(self, index: int, timestamp: int) -> RecordMetadata:
        """Of one record of a batch that is done. Raises its ClientError."""
        for first, part in reversed(self._parts):
            if index >= first:
                return part.metadata(index - first, timestamp)
        if self._error is not None:
            # A new error for each caller: a shared one would collect all their tracebacks.
            raise copy.copy(self._error)
        partition = self.partition
        return RecordMetadata(
            partition.topic,
            partition.partition,
            self.base_offset + index if self.base_offset >= 0 else -1,
            self.log_append_time if self.log_append_time >= 0 else timestamp,
        )

    def is_decided(self) -> bool:
        return self.is_done or (bool(self._parts) and all(p.is_decided() for _, p in self._parts))

    def _finish(self) -> None:
        self.is_done = True
        self.body = b""
        if not self.is_in_flight:
            self.sealed = None
        if self._done is not None and not self._done.done():
            self._done.set_result(None)


class Delivery:
    """The delivery of one record. Awaiting it gives the record's `RecordMetadata`, or raises the
    ClientError for which the record was not written."""

    __slots__ = ("_batch", "_index", "_timestamp")

    def __init__(self, batch: ProducerBatch, index: int, timestamp: int) -> None:
        self._batch = batch
        self._index = index
        self._timestamp = timestamp

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        if not self._batch.is_decided():
            yield from self._batch.wait().__await__()
        return self._batch.metadata(self._index, self._timestamp)

    def done(self) -> bool:
        return self._batch.is_decided()

    def result(self) -> RecordMetadata:
        """Of a delivery that is done. Raises the ClientError of a record that was not written."""
        if not self._batch.is_decided():
            raise asyncio.InvalidStateError("the record is not delivered yet")
        return self._batch.metadata(self._index, self._timestamp)


def _encoded(
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] | None,
    timestamp_delta: int,
    offset_delta: int,
) -> bytes:
    parts = [
        b"\x00",
        encode_varlong(timestamp_delta),
        encode_varint(offset_delta),
        _NULL if key is None else encode_varint(len(key)) + key,
        _NULL if value is None else encode_varint(len(value)) + value,
    ]
    found = [(name.encode(), content) for name, content in headers or ()]
    parts.append(encode_varint(len(found)))
    for name, content in found:
        parts += (encode_varint(len(name)), name)
        parts += (_NULL,) if content is None else (encode_varint(len(content)), content)
    return b"".join(parts)
