"""Control batches: transaction markers and the quorum's control records.

A control record's key contains its type. The values of the two transaction markers are encoded and
decoded here; those of the quorum are separate messages and stay bytes here.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.model import (
    Buffer,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
)
from ottla.wire.errors import ProtocolError
from ottla.wire.records.builder import batch_of_one
from ottla.wire.records.header import CONTROL_FLAG, HEADER_BYTES, TRANSACTIONAL_FLAG
from ottla.wire.records.record import Record, iterate_records

_key = struct.Struct(">hh")
_marker = struct.Struct(">hi")
_VERSION = 0
# The only record of a marker's batch, as all implementations write it: its length, attributes,
# timestamp delta 0, offset delta 0, a key of 4 bytes, a value of 6, no headers.
_marker_record = struct.Struct(">5shhchic")
_MARKER_START, _MARKER_VALUE_SIZE, _MARKER_END = b"\x20\x00\x00\x00\x08", b"\x0c", b"\x00"
_MARKER_BYTES = HEADER_BYTES + _marker_record.size
_MARKER_ATTRIBUTES = TRANSACTIONAL_FLAG | CONTROL_FLAG


class ControlRecordType(IntEnum):
    UNKNOWN = -1
    """A type that a later version added; readers skip it."""
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


_ENDS: Final = {each.value: each for each in (ControlRecordType.ABORT, ControlRecordType.COMMIT)}


class EndTransactionMarker(NamedTuple):
    """The outcome of a producer's transaction, and the epoch of the coordinator that decided it."""

    type: ControlRecordType
    coordinator_epoch: int


def control_record(
    record_type: ControlRecordType,
    value: bytes,
    *,
    offset: Offset,
    timestamp: TimestampMs,
) -> Record:
    assert record_type is not ControlRecordType.UNKNOWN
    return Record(offset, timestamp, _key.pack(_VERSION, record_type), value)


def end_transaction_batch(
    marker: EndTransactionMarker,
    *,
    producer_id: ProducerId,
    producer_epoch: ProducerEpoch,
    timestamp: TimestampMs,
) -> bytearray:
    """The batch that ends a producer's transaction in one partition, without its offset."""
    assert marker.type in (ControlRecordType.ABORT, ControlRecordType.COMMIT)
    record = _marker_record.pack(
        _MARKER_START,
        _VERSION,
        marker.type,
        _MARKER_VALUE_SIZE,
        _VERSION,
        marker.coordinator_epoch,
        _MARKER_END,
    )
    return batch_of_one(
        record,
        attributes=_MARKER_ATTRIBUTES,
        timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


def read_marker_batch(batch: Buffer) -> EndTransactionMarker:
    """Reads the marker of a batch. Every partition of every transaction gets one, so the usual
    layout is decoded directly, and any other as a normal record.
    """
    if len(batch) == _MARKER_BYTES:
        start, key_version, number, size, version, epoch, end = _marker_record.unpack_from(
            batch, HEADER_BYTES
        )
        if (start, size, end) == (_MARKER_START, _MARKER_VALUE_SIZE, _MARKER_END) and (
            key_version == version == _VERSION and number in _ENDS
        ):
            return EndTransactionMarker(_ENDS[number], epoch)
    return read_end_transaction_marker(next(iter(iterate_records(batch))))


def read_control_type(key: Buffer | None) -> ControlRecordType:
    """The type in a control record's key. Later versions of the key only append to it."""
    if key is None or len(key) < _key.size:
        length = "no key" if key is None else f"a key of {len(key)} bytes"
        raise ProtocolError(f"a control record has {length} instead of at least {_key.size} bytes")
    version, number = _key.unpack_from(key)
    if version < 0:
        raise ProtocolError(f"a control record's key has version {version}")
    try:
        return ControlRecordType(number)
    except ValueError:
        return ControlRecordType.UNKNOWN


def read_end_transaction_marker(record: Record) -> EndTransactionMarker:
    record_type = read_control_type(record.key)
    if record_type not in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
        raise ProtocolError(
            f"a control record of type {record_type.name} does not end a transaction"
        )
    value = record.value
    if value is None or len(value) < _marker.size:
        raise ProtocolError(
            f"an end transaction marker has {value!r} instead of a coordinator epoch"
        )
    version, coordinator_epoch = _marker.unpack_from(value)
    if version < 0:
        raise ProtocolError(f"an end transaction marker has the unsupported version {version}")
    return EndTransactionMarker(record_type, coordinator_epoch)
