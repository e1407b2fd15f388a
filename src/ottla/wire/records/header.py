"""The 61-byte header of a record batch v2, and values derived from it.

A broker takes all decisions from the header, so it is read in place, with one `struct` call and
without copying the buffer. The layout, and the meaning of each field after compaction, are those of
Kafka's `DefaultRecordBatch`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple

from ottla.model import (
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Buffer,
    LeaderEpoch,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
)
from ottla.wire.errors import ProtocolError
from ottla.wire.records.compression import Codec

MAGIC = 2
HEADER_BYTES = 61

# The base offset and the length field itself, which the length does not count.
LENGTH_PREFIX_BYTES = 12
BATCH_LENGTH_MIN = HEADER_BYTES - LENGTH_PREFIX_BYTES

LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
ATTRIBUTES_AT = 21
MAX_TIMESTAMP_AT = 35

CODEC_MASK = 0x07
LOG_APPEND_TIME_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40
# Ottla's own, in the byte that Kafka's classes do not read: the place of a batch that is in a dead
# letter topic.
SET_ASIDE_FLAG = 0x100
# Ottla's own, in bits that Kafka does not use. Held: consumers do not see the batch; it waits until
# its records are due. Released: copies of held records, which name the offsets they were held at.
HELD_FLAG = 0x2000
RELEASED_FLAG = 0x4000

_SEQUENCE_MAX = 2**31 - 1
_CODECS = tuple(Codec)

header_struct = struct.Struct(">qiibIhiqqqhii")
assert header_struct.size == HEADER_BYTES


class TimestampType(IntEnum):
    """Whether the producer or the log (on append) set the records' timestamps."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    """The stored fields of a batch's header; derived values are properties."""

    base_offset: Offset
    batch_length: int
    leader_epoch: LeaderEpoch
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: TimestampMs
    max_timestamp: TimestampMs
    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    base_sequence: int
    record_count: int

    @property
    def size_in_bytes(self) -> int:
        return self.batch_length + LENGTH_PREFIX_BYTES

    @property
    def last_offset(self) -> Offset:
        # Called for every batch; converting to `Offset` would double the cost.
        return self.base_offset + self.last_offset_delta  # type: ignore[return-value]

    @property
    def next_offset(self) -> Offset:
        return self.base_offset + self.last_offset_delta + 1  # type: ignore[return-value]

    @property
    def codec(self) -> Codec:
        return _CODECS[self.attributes & CODEC_MASK]

    @property
    def timestamp_type(self) -> TimestampType:
        if self.attributes & LOG_APPEND_TIME_FLAG:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_FLAG != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_FLAG != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON_FLAG != 0

    @property
    def is_set_aside(self) -> bool:
        """Whether the batch is only the place of one whose records are in a dead letter topic."""
        return self.attributes & SET_ASIDE_FLAG != 0 and self.record_count == 0

    @property
    def is_held(self) -> bool:
        """Whether consumers do not see the batch, because its records are delivered later."""
        return self.attributes & HELD_FLAG != 0

    @property
    def is_released(self) -> bool:
        """Whether the batch has copies of held records, which were due."""
        return self.attributes & RELEASED_FLAG != 0

    @property
    def delete_horizon_ms(self) -> TimestampMs | None:
        """When compaction may remove the batch's tombstones; stored as the base timestamp."""
        return self.base_timestamp if self.has_delete_horizon else None

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        # Inlined `increment_sequence`, because this is called for every batch of an idempotent
        # producer.
        return (self.base_sequence + self.last_offset_delta) & _SEQUENCE_MAX


# Inlined `BatchHeader._make`, because this is called for every batch.
new_header: Callable[[type[BatchHeader], Iterable[int]], BatchHeader] = tuple.__new__


def increment_sequence(sequence: int, *, by: int) -> int:
    """Sequence numbers wrap around to 0 after 2147483647."""
    return (sequence + by) & _SEQUENCE_MAX


def encode_attributes(
    *,
    codec: Codec = Codec.NONE,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    is_transactional: bool = False,
    is_control: bool = False,
    has_delete_horizon: bool = False,
) -> int:
    return (
        codec
        | (LOG_APPEND_TIME_FLAG if timestamp_type else 0)
        | (TRANSACTIONAL_FLAG if is_transactional else 0)
        | (CONTROL_FLAG if is_control else 0)
        | (DELETE_HORIZON_FLAG if has_delete_horizon else 0)
    )


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """Reads the header at `position`. Checks magic, minimum length and codec, nothing else."""
    try:
        header = new_header(BatchHeader, header_struct.unpack_from(buffer, position))
    except struct.error:
        raise _short_header(buffer, position) from None
    if header.magic != MAGIC:
        raise _wrong_magic(header.magic, position)
    if header.batch_length < BATCH_LENGTH_MIN:
        raise ProtocolError(
            f"the record batch at byte {position} declares a length of {header.batch_length}; "
            f"its header alone takes {BATCH_LENGTH_MIN}"
        )
    if header.attributes & CODEC_MASK >= len(_CODECS):
        raise ProtocolError(
            f"the record batch at byte {position} is compressed with codec "
            f"{header.attributes & CODEC_MASK}; the last one known is {_CODECS[-1]}"
        )
    return header


def _short_header(buffer: Buffer, position: int) -> ProtocolError:
    left = len(buffer) - position
    if left > MAGIC_AT and buffer[position + MAGIC_AT] in (0, 1):
        return _wrong_magic(buffer[position + MAGIC_AT], position)
    return ProtocolError(
        f"a record batch's header takes {HEADER_BYTES} bytes; {left} are left at byte {position}"
    )


def _wrong_magic(magic: int, position: int) -> ProtocolError:
    if magic in (0, 1):
        return ProtocolError(
            f"the records at byte {position} are in message format {magic}, which Kafka 4 dropped; "
            f"write them with a client of version 0.11 or newer"
        )
    return ProtocolError(f"the record batch at byte {position} has magic {magic} instead of 2")
