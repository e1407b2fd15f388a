"""Reads the records of a topic of schemas from fetched batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.client.consuming.decoding.fetched_batches import FetchedBatches
from ottla.model import Buffer
from ottla.wire.messages.fetch import AbortedTransaction
from ottla.wire.records import iterate_batches, iterate_records
from ottla.wire.records.header import CODEC_MASK

_DECOMPRESSED_BYTES_MAX: Final = 64 << 20
_INLINE_BYTES_MAX: Final = 16 << 10


class SchemaRecord(NamedTuple):
    key: bytes
    value: bytes | None
    timestamp: int


class SchemaRecords(NamedTuple):
    records: list[SchemaRecord]
    next_offset: int


def is_small(data: Buffer) -> bool:
    """Whether the event loop may read the batches."""
    return len(data) <= _INLINE_BYTES_MAX and not any(
        header.attributes & CODEC_MASK for _, header in iterate_batches(data)
    )


def read_schema_records(
    data: Buffer, aborted: Sequence[AbortedTransaction], position: int
) -> SchemaRecords:
    """The committed records from this offset on. Raises ProtocolError."""
    batches = FetchedBatches(
        data, aborted, position=position, is_read_committed=True, checks_crcs=True
    )
    found = []
    while (batch := batches.next()) is not None:
        records = iterate_records(batch.data, decompressed_bytes_max=_DECOMPRESSED_BYTES_MAX)
        found += [
            SchemaRecord(each.key, each.value, each.timestamp)
            for each in records
            if each.key is not None and each.offset >= position
        ]
    return SchemaRecords(found, batches.next_offset)
