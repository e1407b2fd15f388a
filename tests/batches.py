"""Batches for tests, in as few words as a test can spare."""

from __future__ import annotations

from ottla.model import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
)
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.record import Record


def batch_of(
    *values: bytes | None,
    key: bytes | None = None,
    timestamp: int = 1_000,
    codec: Codec = Codec.NONE,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int | None = None,
    sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
) -> bytearray:
    """A batch of these values, one record each, all with one key and timestamp."""
    if producer_epoch is None:
        producer_epoch = NO_PRODUCER_EPOCH if producer_id == NO_PRODUCER_ID else 0
    return build_batch(
        [
            Record(Offset(number), TimestampMs(timestamp), key, value)
            for number, value in enumerate(values)
        ],
        codec=codec,
        producer_id=ProducerId(producer_id),
        producer_epoch=ProducerEpoch(producer_epoch),
        base_sequence=sequence,
        is_transactional=is_transactional,
    )
