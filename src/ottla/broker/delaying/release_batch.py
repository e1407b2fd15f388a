"""Builds the batch with which records that are due become visible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.model import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Offset,
    TimestampMs,
)
from ottla.storage.batches.held_headers import origin_headers
from ottla.storage.batches.opened_batch import OpenedBatch
from ottla.storage.delays.due_entry import DueEntry
from ottla.storage.log_config import LogConfig
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.encoded_record import EncodedRecord, join_record
from ottla.wire.records.header import MAGIC, RELEASED_FLAG, BatchHeader, read_header

_MORE_HEADERS = 2


class DueRecord(NamedTuple):
    """A held record that is due, with its bytes."""

    entry: DueEntry
    record: EncodedRecord


def release_batch(due: Sequence[DueRecord], config: LogConfig) -> OpenedBatch:
    """The batch of all records, in their order. A record's timestamp is the time at which it was
    due; retention would otherwise delete it too early."""
    times = [max(each.entry.due_ms, each.entry.timestamp) for each in due]
    base = times[0]
    body = b"".join(
        join_record(
            record,
            timestamp_delta=time - base,
            offset_delta=at,
            more_headers=origin_headers(entry.offset, entry.timestamp),
            more_count=_MORE_HEADERS,
        )
        for at, ((entry, record), time) in enumerate(zip(due, times, strict=True))
    )
    codec = config.compression_type or Codec.NONE
    header = BatchHeader(
        Offset(0),
        0,
        NO_LEADER_EPOCH,
        MAGIC,
        0,
        RELEASED_FLAG | codec,
        len(due) - 1,
        TimestampMs(base),
        TimestampMs(max(times)),
        NO_PRODUCER_ID,
        NO_PRODUCER_EPOCH,
        NO_SEQUENCE,
        len(due),
    )
    batch = seal_batch(header, body, compression_level=config.compression_level)
    # Checked when they were held: a lower max.message.bytes since then must not stop them.
    return OpenedBatch(batch, read_header(batch), config)
