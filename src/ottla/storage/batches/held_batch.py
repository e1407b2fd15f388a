"""Holds batches of topics with delayed delivery (`ottla.delivery.delay.enable`).

A batch with a record that is not due, or with a cancellation, is appended as a held batch: it has
its offsets and sequence numbers, but consumers do not see it. Records of it that are due are
released at once. So a duplicate, a gap and a transaction are recognised as in any other log.

A held batch is not compressed, so that single records of it can be read later. Refusals are
`InvalidRecordsError`s.
"""

from __future__ import annotations

from typing import Final

from ottla.model import ErrorCode
from ottla.storage.batches.held_headers import (
    CANCEL_START,
    DELIVER_AT_START,
    asked_of,
    cancel_header,
    deliver_at_header,
    due_of,
)
from ottla.storage.batches.record_errors import InvalidRecordsError, RecordError
from ottla.storage.log_config import LogConfig
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.encoded_record import EncodedRecord, join_record, split_records
from ottla.wire.records.header import CODEC_MASK, HELD_FLAG, BatchHeader

_NAMED_MAX: Final = 3


def asks_for_delay(body: bytes, config: LogConfig) -> bool:
    """Whether a record of the batch may have to be held. Bytes that look like a header in a value
    count too."""
    return config.delay_ms > 0 or DELIVER_AT_START in body or CANCEL_START in body


def held_batch(
    body: bytes, header: BatchHeader, config: LogConfig, *, now_ms: int, holds_all: bool = False
) -> bytearray | None:
    """The batch as it is held, or None if all of its records are due and it is not `holds_all`.
    Raises `InvalidRecordsError` for headers that mean nothing."""
    if not (holds_all or asks_for_delay(body, config)):
        return None
    latest_ms, default_ms = now_ms + config.delay_ms_max, now_ms + config.delay_ms
    is_held = holds_all
    errors: list[RecordError] = []
    parts: list[bytes] = []
    for index, record in enumerate(split_records(body, header.record_count)):
        asked = asked_of(record)
        due_ms = default_ms if asked.due_ms is None else asked.due_ms
        if asked.is_cancel:
            is_held = True
            if record.key is None:
                errors.append(RecordError(index, "a cancellation needs the key of the records"))
        elif asked.text is not None:
            text = f"ottla-deliver-at is {asked.text}, not a time in ms since the epoch, as decimal"
            errors.append(RecordError(index, text))
        elif due_ms > latest_ms:
            text = f"{due_ms} is later than ottla.delivery.delay.max.ms allows: {latest_ms}"
            errors.append(RecordError(index, text))
        elif due_ms > now_ms:
            is_held = True
        parts.append(_cancelling(record) if asked.is_cancel else _held(record, due_ms))
    if errors:
        raise _refusal(errors)
    if not is_held:
        return None
    attributes = header.attributes & ~CODEC_MASK | HELD_FLAG
    return seal_batch(header._replace(attributes=attributes), b"".join(parts))


def _held(record: EncodedRecord, due_ms: int) -> bytes:
    """The record with a due time that its leader finds. The second header makes it decode all."""
    encoded = _encoded(record)
    if DELIVER_AT_START in encoded and due_of(encoded, 0, len(encoded)) == due_ms:
        return encoded
    return _encoded(record, deliver_at_header(due_ms))


def _cancelling(record: EncodedRecord) -> bytes:
    encoded = _encoded(record)
    return encoded if CANCEL_START in encoded else _encoded(record, cancel_header())


def _encoded(record: EncodedRecord, header: bytes = b"") -> bytes:
    return join_record(
        record,
        timestamp_delta=record.timestamp_delta,
        offset_delta=record.offset_delta,
        more_headers=header,
        more_count=1 if header else 0,
    )


def _refusal(errors: list[RecordError]) -> InvalidRecordsError:
    named = "; ".join(f"record {index}: {message}" for index, message in errors[:_NAMED_MAX])
    more = f"; and {len(errors) - _NAMED_MAX} more" if len(errors) > _NAMED_MAX else ""
    return InvalidRecordsError(
        ErrorCode.INVALID_RECORD, f"the batch is refused: {named}{more}", tuple(errors)
    )
