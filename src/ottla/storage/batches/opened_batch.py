"""Opens batches that the leader has to check record by record or recompress.

If a topic is compacted or sets `ottla.record.validation=record`, every record of a client's batch
is checked. If it has its own `compression.type`, batches of other codecs are recompressed, and
checked as well, because they are open anyway. Such a batch may be a decompression bomb, so its
decompressed size is limited relative to its own size and to `max.message.bytes`. A large batch
takes too long for an event loop: `open_inline` returns None for it, and the caller runs
`open_batch` on a worker. With delayed delivery, a batch that asks for it becomes a held batch.

Refusals are `KafkaError`s, and `InvalidRecordsError`s if single records are invalid (KIP-467).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.model import Buffer, ErrorCode, KafkaError, TimestampMs, TopicPartition
from ottla.storage.batches.held_batch import held_batch
from ottla.storage.batches.leader_batch import Origin, check_batch, size_refusal
from ottla.storage.batches.record_errors import (
    InvalidRecordsError,
    RecordError,
    excluded_records_error,
)
from ottla.storage.log_config import LogConfig
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import read_body, set_max_timestamp
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.compression import OutputTooLargeError
from ottla.wire.records.header import CODEC_MASK, BatchHeader, TimestampType, read_header
from ottla.wire.records.record_check import MalformedRecordError, RecordLimits, check_body

_MEBIBYTE: Final = 1 << 20

# Limits of the decompressed size. In total: this many times `max.message.bytes`, but no more than
# 64 MiB, or twice `max.message.bytes` if that is larger.
_EXPANSION_MAX: Final = 64
_OPENED_BYTES_MAX: Final = 64 * _MEBIBYTE
# Ratio: above 1 MiB, this many bytes for each byte sent. No codec reaches it unless the records are
# identical.
_RATIO_MAX: Final = 1024
_RATIO_FREE_BYTES: Final = _MEBIBYTE

# Opening a batch on the event loop takes at most 2 ms, with the slowest codec and the most records.
_INLINE_RECORDS_MAX: Final = 2_000
# Held batches take five times as long.
_INLINE_HELD_MAX: Final = 400
_INLINE_PLAIN_BYTES_MAX: Final = 4 * _MEBIBYTE
_INLINE_OPENED_BYTES_MAX: Final = 256 * 1024
_INLINE_RECOMPRESSED_BYTES_MAX: Final = 32 * 1024

_CLIENT: Final = Origin.CLIENT
_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1


class OpenedBatch(NamedTuple):
    """A batch as its topic requires it: checked, with the topic's codec. Valid only for a log whose
    `config` is this very object."""

    records: Buffer
    header: BatchHeader
    config: LogConfig
    # Of a large batch that does not ask for a delay: the same batch as it is held, in case that
    # earlier records of the partition are due and not released yet.
    held: Buffer | None = None


def has_to_be_opened(header: BatchHeader, config: LogConfig, origin: Origin) -> bool:
    """Whether a batch cannot be appended as it is. A control batch always can."""
    if header.is_control or not config.opens_batches:
        return False
    return (origin is _CLIENT and config.checks_records) or _has_other_codec(header, config)


def open_batch(
    records: Buffer,
    config: LogConfig,
    *,
    name: TopicPartition,
    origin: Origin = Origin.CLIENT,
    now_ms: int,
) -> OpenedBatch:
    """Opens a batch of any size. Run it on a worker for large ones."""
    header = check_batch(records, config, origin=origin, now_ms=now_ms)
    if not has_to_be_opened(header, config, origin):
        return OpenedBatch(records, header, config)
    body = _read(records, header, opened_bytes_max(len(records), config))
    return _opened(records, header, body, config, name=name, origin=origin, now_ms=now_ms)


def open_inline(
    records: Buffer, config: LogConfig, *, name: TopicPartition, now_ms: int
) -> OpenedBatch | None:
    """Opens a client's batch on the event loop. Returns None if that would take too long."""
    header = check_batch(records, config, origin=_CLIENT, now_ms=now_ms)
    if not has_to_be_opened(header, config, _CLIENT):
        return OpenedBatch(records, header, config)
    bytes_max = opened_bytes_max(len(records), config)
    if _has_other_codec(header, config):
        inline_max = _INLINE_RECOMPRESSED_BYTES_MAX
    elif header.attributes & CODEC_MASK:
        inline_max = _INLINE_OPENED_BYTES_MAX
    else:
        inline_max = _INLINE_PLAIN_BYTES_MAX
    records_max = _INLINE_HELD_MAX if config.delays else _INLINE_RECORDS_MAX
    if header.record_count > records_max or len(records) > inline_max:
        return None
    try:
        body = _read(records, header, min(inline_max, bytes_max))
    except _TooLargeError:
        if bytes_max > inline_max:
            return None
        raise
    return _opened(records, header, body, config, name=name, origin=_CLIENT, now_ms=now_ms)


def opened_bytes_max(size: int, config: LogConfig) -> int:
    """The most bytes that a batch of this size may decompress to."""
    limit = config.max_message_bytes
    total = min(limit * _EXPANSION_MAX, max(_OPENED_BYTES_MAX, 2 * limit))
    return min(total, max(_RATIO_FREE_BYTES, size * _RATIO_MAX))


class _TooLargeError(KafkaError):
    """Decompresses to more than the limit; a higher limit might allow it."""


def _has_other_codec(header: BatchHeader, config: LogConfig) -> bool:
    codec = config.compression_type
    return codec is not None and header.attributes & CODEC_MASK != codec


def _read(records: Buffer, header: BatchHeader, bytes_max: int) -> bytes:
    try:
        return read_body(records, 0, header, decompressed_bytes_max=bytes_max)
    except OutputTooLargeError as error:
        raise _TooLargeError(
            ErrorCode.INVALID_RECORD,
            f"the batch of {len(records)} bytes is larger than {bytes_max} bytes when "
            "decompressed; send smaller batches",
        ) from error
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from error


def _opened(
    records: Buffer,
    header: BatchHeader,
    body: bytes,
    config: LogConfig,
    *,
    name: TopicPartition,
    origin: Origin,
    now_ms: int,
) -> OpenedBatch:
    # A coordinator's records need no check.
    if origin is _CLIENT:
        max_timestamp = _check(body, header, config, name=name, now_ms=now_ms)
        is_stamped = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        if max_timestamp != header.max_timestamp and not is_stamped:
            # Corrected as in Kafka: lookups by time rely on it.
            records = bytearray(records)
            set_max_timestamp(records, 0, TimestampMs(max_timestamp))
            header = read_header(records)
    spare: Buffer | None = None
    if origin is _CLIENT and config.delays:
        held = held_batch(body, header, config, now_ms=now_ms)
        if held is not None:
            _require_size(held, config)
            return OpenedBatch(held, read_header(held), config)
        if header.record_count > _INLINE_HELD_MAX and not header.is_transactional:
            spare = held_batch(body, header, config, now_ms=now_ms, holds_all=True)
    if _has_other_codec(header, config):
        assert config.compression_type is not None
        attributes = header.attributes & ~CODEC_MASK | config.compression_type
        records = seal_batch(
            header._replace(attributes=attributes), body, compression_level=config.compression_level
        )
        _require_size(records, config)
        header = read_header(records)
    return OpenedBatch(records, header, config, spare)


def hold_opened(opened: OpenedBatch, *, now_ms: int) -> OpenedBatch:
    """A batch whose records are due, as it is held behind others that are released first."""
    records, header, config, held = opened
    if held is None:
        body = _read(records, header, opened_bytes_max(len(records), config))
        held = held_batch(body, header, config, now_ms=now_ms, holds_all=True)
        assert held is not None
    return OpenedBatch(held, read_header(held), config)


def _require_size(records: Buffer, config: LogConfig) -> None:
    if len(records) > config.max_message_bytes:
        raise size_refusal(len(records), config)


def _check(
    body: bytes, header: BatchHeader, config: LogConfig, *, name: TopicPartition, now_ms: int
) -> int:
    """Checks the records and returns their latest timestamp."""
    limits = RecordLimits(needs_keys=config.compact, timestamps=_timestamps(config, now_ms))
    try:
        findings = check_body(body, header, limits)
    except MalformedRecordError as error:
        raise InvalidRecordsError(
            ErrorCode.INVALID_RECORD, str(error), (RecordError(error.index, error.reason),)
        ) from error
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from error
    if findings.excluded_count:
        raise excluded_records_error(findings, limits, name)
    return findings.max_timestamp


def _timestamps(config: LogConfig, now_ms: int) -> tuple[int, int] | None:
    if config.message_timestamp_type is TimestampType.LOG_APPEND_TIME:
        return None
    return (
        max(now_ms - config.message_timestamp_before_max_ms, _INT64_MIN),
        min(now_ms + config.message_timestamp_after_max_ms, _INT64_MAX),
    )
