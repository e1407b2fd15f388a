"""Encodes and decodes record batches of metadata records and of control records.

The records of one operation take effect together. They are one batch if they fit, since a batch is
either in the log or not; otherwise they are a transaction (KIP-868): a crash may leave only its
first batches, but those never take effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ottla.metadata import record_version
from ottla.model import Buffer, LeaderEpoch, Offset, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.records.builder import build_batch
from ottla.wire.records.control import ControlRecordType, control_record, read_control_type
from ottla.wire.records.header import BatchHeader, read_header
from ottla.wire.records.record import Record, iterate_records
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata import decode_metadata_record, encode_metadata_record
from ottla.wire.stored.cluster_metadata.transactions import (
    BeginTransactionRecord,
    EndTransactionRecord,
)
from ottla.wire.stored.quorum import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)

# Kafka's limits; Kafka's nodes may read these batches.
BATCH_BYTES_MAX: Final = 8 << 20
BATCH_RECORDS_MAX: Final = 10_000

_CONTROL_RECORDS: Final[dict[ControlRecordType, type[Message]]] = {
    ControlRecordType.LEADER_CHANGE: LeaderChangeMessage,
    ControlRecordType.SNAPSHOT_HEADER: SnapshotHeaderRecord,
    ControlRecordType.SNAPSHOT_FOOTER: SnapshotFooterRecord,
    ControlRecordType.KRAFT_VERSION: KRaftVersionRecord,
    ControlRecordType.KRAFT_VOTERS: VotersRecord,
}
_CONTROL_TYPES: Final = {cls: kind for kind, cls in _CONTROL_RECORDS.items()}
# Kafka writes the lowest version of each.
_CONTROL_VERSION: Final = 0


class DecodedBatch(NamedTuple):
    """A batch of metadata records or, if it is a control batch, of control records."""

    header: BatchHeader
    records: list[Message]


def encode_operation(
    records: Sequence[Message], *, metadata_version: int, base_offset: int, now_ms: int
) -> list[bytearray]:
    """The batches for the records of one operation; the first one starts at `base_offset`."""
    values = [_encoded(record, metadata_version) for record in records]
    chunks = list(_chunks(values))
    if len(chunks) > 1:
        begin, end = BeginTransactionRecord(), EndTransactionRecord()
        values = [_encoded(begin, metadata_version), *values, _encoded(end, metadata_version)]
        chunks = list(_chunks(values))
    batches = []
    for chunk in chunks:
        batches.append(_batch(chunk, base_offset=base_offset, now_ms=now_ms))
        base_offset += len(chunk)
    return batches


def encode_batches(
    records: Iterable[Message],
    *,
    metadata_version: int,
    base_offset: int,
    leader_epoch: int,
    now_ms: int,
) -> Iterator[tuple[bytearray, int]]:
    """As many batches as needed, without a transaction, each with the offset after it. For
    snapshots."""
    values = (_encoded(record, metadata_version) for record in records)
    for chunk in _chunks(values):
        batch = _batch(chunk, base_offset=base_offset, leader_epoch=leader_epoch, now_ms=now_ms)
        base_offset += len(chunk)
        yield batch, base_offset


def encode_control_batch(
    records: Sequence[Message], *, base_offset: int, leader_epoch: int, now_ms: int
) -> bytearray:
    """One batch of control records."""
    return build_batch(
        [
            control_record(
                _CONTROL_TYPES[type(record)],
                record.encode(_CONTROL_VERSION),
                offset=Offset(offset),
                timestamp=TimestampMs(now_ms),
            )
            for offset, record in enumerate(records, start=base_offset)
        ],
        leader_epoch=LeaderEpoch(leader_epoch),
        is_control=True,
    )


def decode_batch(batch: Buffer) -> DecodedBatch:
    """All records of a batch. Control records of unknown types are omitted."""
    header = read_header(batch)
    records: list[Message] = []
    for record in iterate_records(batch):
        if record.value is None:
            raise ProtocolError(f"the record at offset {record.offset} has no value")
        if not header.is_control:
            records.append(decode_metadata_record(record.value)[0])
        elif (cls := _CONTROL_RECORDS.get(read_control_type(record.key))) is not None:
            records.append(_decode_control(cls, record.value))
    return DecodedBatch(header, records)


def _decode_control(cls: type[Message], value: bytes) -> Message:
    """The value of every control record starts with its version."""
    version = int.from_bytes(value[:2], signed=True)
    return cls.decode(value, min(version, cls.versions.highest))


def _encoded(record: Message, metadata_version: int) -> bytes:
    return encode_metadata_record(record, record_version(record, metadata_version))


def _chunks(values: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for value in values:
        if chunk and (len(chunk) == BATCH_RECORDS_MAX or size + len(value) > BATCH_BYTES_MAX):
            yield chunk
            chunk, size = [], 0
        chunk.append(value)
        size += len(value)
    if chunk:
        yield chunk


def _batch(
    values: list[bytes], *, base_offset: int, now_ms: int, leader_epoch: int = -1
) -> bytearray:
    timestamp = TimestampMs(now_ms)
    return build_batch(
        [
            Record(Offset(offset), timestamp, None, value)
            for offset, value in enumerate(values, start=base_offset)
        ],
        leader_epoch=LeaderEpoch(leader_epoch),
    )
