"""A batch that is built record by record."""

from __future__ import annotations

from ottla.model import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
)
from ottla.wire.records.builder import encode_records, seal_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import MAGIC, BatchHeader, encode_attributes
from ottla.wire.records.record import Record

_FIRST = Offset(0)


class GrowingBatch:
    """Builds a batch of records with keys and one timestamp. Owned by its builder until `seal`."""

    def __init__(self, timestamp: TimestampMs) -> None:
        self._timestamp = timestamp
        self._body = bytearray()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, key: bytes, value: bytes | None) -> None:
        record = Record(Offset(self._count), self._timestamp, key, value)
        self._body += encode_records((record,), base_offset=_FIRST, base_timestamp=self._timestamp)
        self._count += 1

    def seal(self, codec: Codec = Codec.NONE) -> bytearray:
        """The complete batch. Needs at least one record."""
        assert self._count
        header = BatchHeader(
            _FIRST,
            0,
            NO_LEADER_EPOCH,
            MAGIC,
            0,
            encode_attributes(codec=codec),
            self._count - 1,
            self._timestamp,
            self._timestamp,
            ProducerId(NO_PRODUCER_ID),
            ProducerEpoch(NO_PRODUCER_EPOCH),
            NO_SEQUENCE,
            self._count,
        )
        return seal_batch(header, self._body)
