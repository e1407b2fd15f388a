"""Adds the header to encoded records, which makes them a record batch of a producer."""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import (
    NO_LEADER_EPOCH,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
)
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import MAGIC, BatchHeader, encode_attributes
from ottla.wire.records.row_batches import UnsealedBatch


class Seal(NamedTuple):
    """A batch's producer fields, timestamp and compression."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    base_sequence: int
    is_transactional: bool
    timestamp: TimestampMs
    codec: Codec
    compression_level: int | None


def seal(batch: UnsealedBatch, how: Seal) -> bytearray:
    """The same batch as `build_batch` would build."""
    header = BatchHeader(
        base_offset=Offset(0),
        batch_length=0,
        leader_epoch=NO_LEADER_EPOCH,
        magic=MAGIC,
        crc=0,
        attributes=encode_attributes(codec=how.codec, is_transactional=how.is_transactional),
        last_offset_delta=batch.record_count - 1,
        base_timestamp=how.timestamp,
        max_timestamp=how.timestamp,
        producer_id=how.producer_id,
        producer_epoch=how.producer_epoch,
        base_sequence=how.base_sequence,
        record_count=batch.record_count,
    )
    return seal_batch(header, batch.body, compression_level=how.compression_level)
