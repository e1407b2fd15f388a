"""The batch that a dead letter topic gets: the records of a bad batch, with headers that say where
they come from and what is wrong. Values in and values out, for a worker process."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

from ottla.model import (
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
    Uuid,
)
from ottla.model.ids import ONE_TIME_PRODUCER_ID_MIN
from ottla.wire.records import Record, build_batch, iterate_records
from ottla.wire.records.header import read_header

# The headers are named as those of share groups (KIP-1191).
HEADER_PREFIX: Final = "__dlq.errors."
_OTHERS: Final = "Another record of the batch does not fit its schema."


class LetterPlace(NamedTuple):
    """The place of a batch in its topic. Only one batch ever has it."""

    topic_id: Uuid
    partition: int
    offset: int
    leader_epoch: int

    @property
    def producer_id(self) -> ProducerId:
        """The id under which the letter is written, once however often it is sent: a letter of the
        same place is a duplicate for the dead letter topic."""
        hashed = blake2b(bytes(self.topic_id), digest_size=8)
        for number in self[1:]:
            hashed.update(number.to_bytes(8, signed=True))
        number = int.from_bytes(hashed.digest()) % ONE_TIME_PRODUCER_ID_MIN
        return ProducerId(ONE_TIME_PRODUCER_ID_MIN + number)


class LetterText(NamedTuple):
    """What the headers say. `topic` is the name that its clients know."""

    topic: str
    message: str
    # By the index of the record.
    messages: dict[int, str]


def build_letter(
    records: bytes, bytes_max: int, text: LetterText, place: LetterPlace, now_ms: int
) -> bytes:
    """`records` is a batch whose records are well-formed. Raises ProtocolError."""
    header = read_header(records)
    first = header.base_offset
    letter = [
        Record(
            Offset(index),
            TimestampMs(now_ms),
            each.key,
            each.value,
            (*each.headers, *_headers(text, place, each.offset - first, each.timestamp)),
        )
        for index, each in enumerate(iterate_records(records, decompressed_bytes_max=bytes_max))
    ]
    return bytes(
        build_batch(
            letter,
            codec=header.codec,
            producer_id=place.producer_id,
            producer_epoch=ProducerEpoch(0),
            base_sequence=0,
        )
    )


def _headers(
    text: LetterText, place: LetterPlace, index: int, timestamp: int
) -> list[tuple[str, bytes]]:
    found = {
        "topic": text.topic,
        "partition": str(place.partition),
        "offset": str(place.offset + index),
        "timestamp": str(timestamp),
        "message": text.messages.get(index) or (_OTHERS if text.messages else text.message),
    }
    return [(HEADER_PREFIX + name, value.encode()) for name, value in found.items() if value]
