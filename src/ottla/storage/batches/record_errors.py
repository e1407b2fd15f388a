"""Errors that name the invalid records of a batch (KIP-467)."""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.wire.records.record_check import LISTED_MAX, RecordFindings, RecordLimits

# The error message names this many records; the list with it has more.
_NAMED_MAX: Final = 3


class RecordError(NamedTuple):
    """A record's index in its batch, and why it was refused."""

    batch_index: int
    message: str


class InvalidRecordsError(KafkaError):
    """No record of the batch was appended. Clients report the error of each record."""

    def __init__(
        self, code: ErrorCode, message: str, record_errors: tuple[RecordError, ...]
    ) -> None:
        super().__init__(code, message)
        self.record_errors = record_errors

    def __reduce__(self) -> tuple[type[KafkaError], tuple[object, ...]]:
        return type(self), (self.code, self.message, self.record_errors)


def excluded_records_error(
    findings: RecordFindings, limits: RecordLimits, name: TopicPartition
) -> InvalidRecordsError:
    """The error code is INVALID_TIMESTAMP if any timestamp is invalid, as in Kafka."""
    keyless = f"{name} is compacted, so every record needs a key"
    errors = [RecordError(index, keyless) for index in findings.keyless]
    if limits.timestamps is not None:
        earliest, latest = limits.timestamps
        errors += [
            RecordError(
                index, f"timestamp {timestamp} is out of range; it has to be {earliest} to {latest}"
            )
            for index, timestamp in findings.untimely
        ]
    errors = sorted(errors)[:LISTED_MAX]
    code = ErrorCode.INVALID_TIMESTAMP if findings.untimely else ErrorCode.INVALID_RECORD
    count = findings.excluded_count
    named = "; ".join(f"record {index}: {message}" for index, message in errors[:_NAMED_MAX])
    more = f"; and {count - _NAMED_MAX} more" if count > _NAMED_MAX else ""
    noun = "record was" if count == 1 else "records were"
    return InvalidRecordsError(
        code, f"the batch is refused because {count} {noun} rejected: {named}{more}", tuple(errors)
    )
