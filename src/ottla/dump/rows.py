"""The rows that files are decoded into, with the field names that users see.

The field names are those of the JSON output, so they must not change. Index entries, aborted
transactions and leader epochs are storage's own values.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from ottla.dump.plain import Fields
from ottla.storage.epochs.epoch_cache import EpochEntry
from ottla.storage.indexes.offset_index import OffsetPosition
from ottla.storage.indexes.time_index import TimestampOffset
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.producers.producer_entry import ProducerEntry
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.record import RecordHeader


class BatchRow(NamedTuple):
    """A record batch; -1 marks missing values, as in the file."""

    base_offset: int
    last_offset: int
    record_count: int
    position: int
    size_in_bytes: int
    codec: str
    timestamp_type: str
    base_timestamp: int
    max_timestamp: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    is_transactional: bool
    is_control: bool
    delete_horizon_ms: int | None
    magic: int
    crc: int
    is_valid: bool


class StoredRecord(NamedTuple):
    """A decoded key or value of an internal topic or control record."""

    type: str
    version: int
    fields: Fields


class RecordRow(NamedTuple):
    """A record. In control batches and internal topics its key and value are also decoded."""

    offset: int
    timestamp: int
    sequence: int
    key: bytes | None
    value: bytes | None
    headers: tuple[RecordHeader, ...]
    control_type: str | None = None
    key_record: StoredRecord | None = None
    value_record: StoredRecord | None = None
    decode_error: str | None = None


class ProducerRow(NamedTuple):
    """A producer in a producer snapshot. It has no last batch if it has only written a marker."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    current_txn_first_offset: int | None
    last_timestamp: int
    first_sequence: int | None
    last_sequence: int | None
    last_offset: int | None
    offset_delta: int | None


class PartitionOffset(NamedTuple):
    topic: str
    partition: int
    offset: int


class Property(NamedTuple):
    name: str
    value: str | int | None


class Problem(NamedTuple):
    """An error in a file, with its position if that is known."""

    reason: str
    position: int | None = None


class Remark(NamedTuple):
    """A note that is not an error."""

    text: str


class Verdict(NamedTuple):
    """The result of verifying a file: the amounts checked and the number of problems found."""

    batches: int
    records: int
    entries: int
    problems: int


Row: TypeAlias = (
    BatchRow
    | RecordRow
    | OffsetPosition
    | TimestampOffset
    | AbortedTransaction
    | ProducerRow
    | EpochEntry
    | PartitionOffset
    | Property
    | Problem
    | Remark
    | Verdict
)

ROW_NAMES: Final[dict[type[Row], str]] = {
    BatchRow: "batch",
    RecordRow: "record",
    OffsetPosition: "offset_index_entry",
    TimestampOffset: "time_index_entry",
    AbortedTransaction: "aborted_transaction",
    ProducerRow: "producer",
    EpochEntry: "leader_epoch",
    PartitionOffset: "partition_offset",
    Property: "property",
    Problem: "problem",
    Remark: "remark",
    Verdict: "verdict",
}


def batch_row(position: int, header: BatchHeader, *, is_valid: bool) -> BatchRow:
    return BatchRow(
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        record_count=header.record_count,
        position=position,
        size_in_bytes=header.size_in_bytes,
        codec=header.codec.name.lower(),
        timestamp_type=header.timestamp_type.name.lower(),
        base_timestamp=header.base_timestamp,
        max_timestamp=header.max_timestamp,
        leader_epoch=header.leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        last_sequence=header.last_sequence,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        delete_horizon_ms=header.delete_horizon_ms,
        magic=header.magic,
        crc=header.crc,
        is_valid=is_valid,
    )


def producer_row(entry: ProducerEntry) -> ProducerRow:
    last = entry.batches[-1] if entry.batches else None
    return ProducerRow(
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_first_offset=entry.current_txn_first_offset,
        last_timestamp=entry.last_timestamp,
        first_sequence=last and last.first_sequence,
        last_sequence=last and last.last_sequence,
        last_offset=last and last.last_offset,
        offset_delta=last and last.offset_delta,
    )
