"""Checks a batch's header before the leader appends it.

On the hot path the header suffices. opened_batch.py opens a batch whose records have to be read:
because its topic is compacted, has its own `compression.type`, or sets `ottla.record.validation`.

Refusals are `KafkaError`s with Kafka's codes: INVALID_RECORD, CORRUPT_MESSAGE, MESSAGE_TOO_LARGE,
INVALID_TIMESTAMP, UNSUPPORTED_COMPRESSION_TYPE.
"""

from __future__ import annotations

from enum import Enum, auto
from struct import Struct
from typing import Final

from crc32c import crc32c

from ottla.model import NO_TIMESTAMP, Buffer, ErrorCode, KafkaError, TimestampMs
from ottla.storage.log_config import LogConfig
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import stamp_log_append_time
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    HELD_FLAG,
    LENGTH_PREFIX_BYTES,
    LOG_APPEND_TIME_FLAG,
    RELEASED_FLAG,
    BatchHeader,
    TimestampType,
    read_header,
)

_PLACE: Final = Struct(">qii")


# Attributes that only coordinators, compaction and the log itself may set.
_NOT_FOR_CLIENTS = (
    CONTROL_FLAG | DELETE_HORIZON_FLAG | LOG_APPEND_TIME_FLAG | HELD_FLAG | RELEASED_FLAG
)


class Origin(Enum):
    """Where an append comes from."""

    CLIENT = auto()
    # Transaction markers, and records of a coordinator's own state.
    COORDINATOR = auto()


# Reading an enum member costs seven times as much as a constant, and every append reads these.
_CLIENT, _ZSTD, _CREATE_TIME = Origin.CLIENT, Codec.ZSTD, TimestampType.CREATE_TIME


def check_batch(records: Buffer, config: LogConfig, *, origin: Origin, now_ms: int) -> BatchHeader:
    """Returns the header of the one batch in `records`, or raises."""
    try:
        header = read_header(records)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from error
    size, count, attributes = len(records), header.record_count, header.attributes
    if not (
        header.batch_length + LENGTH_PREFIX_BYTES == size <= config.max_message_bytes
        and 1 <= count == header.last_offset_delta + 1 <= config.max_message_bytes
        and attributes & CODEC_MASK <= _ZSTD
    ):
        raise _shape_refusal(size, header, config)
    if origin is _CLIENT and (
        attributes & _NOT_FOR_CLIENTS or header.base_sequence < 0 <= header.producer_id
    ):
        raise _client_refusal(header)
    if crc32c(memoryview(records)[ATTRIBUTES_AT:]) != header.crc:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, "the batch's CRC-32C does not match its bytes; send it again"
        )
    if (
        config.message_timestamp_type is _CREATE_TIME
        and (
            header.max_timestamp - now_ms > config.message_timestamp_after_max_ms
            or now_ms - header.base_timestamp > config.message_timestamp_before_max_ms
        )
        # If the records are checked too, their own timestamps count, and the error names the
        # record.
        and not (config.checks_records and origin is _CLIENT)
    ):
        _check_timestamps(header, config, now_ms)
    return header


def stamp_batch(records: Buffer, *, now_ms: int) -> tuple[Buffer, BatchHeader]:
    """Returns the batch with the log append time, changed in place if `records` is writable."""
    records = records if isinstance(records, bytearray) else bytearray(records)
    stamp_log_append_time(records, 0, TimestampMs(now_ms))
    return records, read_header(records)


def _shape_refusal(size: int, header: BatchHeader, config: LogConfig) -> KafkaError:
    if header.size_in_bytes != size:
        return KafkaError(
            ErrorCode.INVALID_RECORD,
            f"the {size} bytes must be exactly one batch, but the batch declares "
            f"{header.size_in_bytes} bytes",
        )
    if size > config.max_message_bytes:
        return size_refusal(size, config)
    if header.record_count < 1 or header.record_count != header.last_offset_delta + 1:
        return KafkaError(
            ErrorCode.INVALID_RECORD,
            f"the batch has the record count {header.record_count}, but the last offset delta "
            f"{header.last_offset_delta}",
        )
    if header.record_count > config.max_message_bytes:
        # Less than a byte per record: readers would loop over all of them.
        return KafkaError(
            ErrorCode.INVALID_RECORD,
            f"{header.record_count} records in one batch; send smaller batches",
        )
    return KafkaError(
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        f"codec {header.attributes & CODEC_MASK} is unknown; use gzip, snappy, lz4 or zstd",
    )


def size_refusal(size: int, config: LogConfig) -> KafkaError:
    return KafkaError(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"the batch has {size} bytes, the topic's max.message.bytes is "
        f"{config.max_message_bytes}; send smaller batches or raise it",
    )


def _client_refusal(header: BatchHeader) -> KafkaError:
    if header.is_control:
        return KafkaError(ErrorCode.INVALID_RECORD, "clients may not write control records")
    if header.has_delete_horizon:
        return KafkaError(ErrorCode.INVALID_RECORD, "only compaction sets a delete horizon")
    if header.is_held or header.is_released:
        return KafkaError(
            ErrorCode.INVALID_RECORD,
            "only the broker marks batches as held or released; use the header ottla-deliver-at",
        )
    if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return KafkaError(
            ErrorCode.INVALID_TIMESTAMP, "a producer may not set the timestamp type LogAppendTime"
        )
    return KafkaError(
        ErrorCode.INVALID_RECORD,
        f"producer {header.producer_id} sent the invalid sequence number {header.base_sequence}",
    )


def _check_timestamps(header: BatchHeader, config: LogConfig, now_ms: int) -> None:
    """Checks the batch's first and latest timestamps; the header has no others."""
    if header.max_timestamp == NO_TIMESTAMP:
        return
    if header.max_timestamp - now_ms > config.message_timestamp_after_max_ms:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamp {header.max_timestamp} is {header.max_timestamp - now_ms} ms ahead of the "
            f"broker; message.timestamp.after.max.ms is {config.message_timestamp_after_max_ms}",
        )
    if now_ms - header.base_timestamp > config.message_timestamp_before_max_ms:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamp {header.base_timestamp} is {now_ms - header.base_timestamp} ms old; "
            f"message.timestamp.before.max.ms is {config.message_timestamp_before_max_ms}",
        )


def place_batch(records: Buffer, header: BatchHeader) -> tuple[Buffer, ...]:
    """The batch's bytes with its offset and leader epoch, which the checksum does not cover."""
    place = header[:3]
    view = memoryview(records)
    if view.readonly:
        return _PLACE.pack(*place), view[_PLACE.size :]
    _PLACE.pack_into(view, 0, *place)
    return (records,)
