"""What consumers see of a log with held batches: each run of held batches becomes one marker.

The marker is a control batch without a producer, which all clients skip: so their positions pass
the held offsets, and no byte of a held record leaves the broker before the record is due.
"""

from __future__ import annotations

from ottla.model import (
    NO_LEADER_EPOCH,
    NO_TIMESTAMP,
    Buffer,
    ErrorCode,
    KafkaError,
    Offset,
    TimestampMs,
)
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches, verify_crc
from ottla.wire.records.builder import build_batch
from ottla.wire.records.control import ControlRecordType, control_record
from ottla.wire.records.header import BatchHeader

# A commit marker's value: version 0, coordinator epoch 0.
_MARKER_VALUE = bytes(6)


def visible_batches(data: Buffer) -> Buffer:
    """The complete batches, with markers in place of held ones. Raises KAFKA_STORAGE_ERROR if a
    batch is damaged: it might be a held one."""
    try:
        return _visible(memoryview(data))
    except ProtocolError as error:
        raise KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR, f"data that was read is corrupt: {error}"
        ) from error


def _visible(view: memoryview) -> Buffer:
    parts: list[Buffer] = []
    kept_from = end = 0
    first: BatchHeader | None = None
    last: BatchHeader | None = None
    for at, header in iterate_batches(view):
        verify_crc(view, at, header)
        end = at + header.size_in_bytes
        if header.is_held:
            if first is None:
                first = header
                parts.append(view[kept_from:at])
            last, kept_from = header, end
        elif first is not None:
            assert last is not None
            parts.append(held_marker(first, last))
            first, kept_from = None, at
    if not parts:
        return view[:end]
    if first is not None:
        assert last is not None
        parts.append(held_marker(first, last))
    parts.append(view[kept_from:end])
    return b"".join(parts)


def held_marker(first: BatchHeader, last: BatchHeader) -> bytearray:
    """The control batch that stands for all offsets from one held batch to another."""
    record = control_record(
        ControlRecordType.COMMIT,
        _MARKER_VALUE,
        offset=Offset(last.last_offset),
        timestamp=TimestampMs(max(last.max_timestamp, NO_TIMESTAMP)),
    )
    epoch = max(last.leader_epoch, NO_LEADER_EPOCH)
    return build_batch([record], base_offset=first.base_offset, leader_epoch=epoch, is_control=True)


def is_held_marker(header: BatchHeader) -> bool:
    """Whether a control batch, among those that consumers see, stands for held batches."""
    return header.is_control and not header.has_producer_id
