"""Record batches v2 as a broker handles them: iterated, validated, patched, but not decoded.

A broker patches batches in place: the base offset and leader epoch, which the checksum does not
cover, and the log append time, which it covers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from crc32c import crc32c

from ottla.model import Buffer, LeaderEpoch, Offset, TimestampMs
from ottla.wire.errors import ProtocolError
from ottla.wire.records.compression import Codec, decompress
from ottla.wire.records.header import (
    ATTRIBUTES_AT,
    CRC_AT,
    HEADER_BYTES,
    LEADER_EPOCH_AT,
    LENGTH_PREFIX_BYTES,
    LOG_APPEND_TIME_FLAG,
    MAX_TIMESTAMP_AT,
    BatchHeader,
    read_header,
)

# The default limit for the size of a decompressed body.
DECOMPRESSED_BYTES_MAX = 256 * 1024 * 1024

# One byte each for length, attributes, timestamp, offset, key length, value length, header count.
_RECORD_BYTES_MIN = 7
_INT64_MAX = 2**63 - 1

_int64 = struct.Struct(">q")
_int32 = struct.Struct(">i")
_uint32 = struct.Struct(">I")
_int16 = struct.Struct(">h")


def iterate_batches(buffer: Buffer, *, strict: bool = False) -> Iterator[tuple[int, BatchHeader]]:
    """The position and header of each complete batch, from the start of the buffer.

    An incomplete batch at the end, as in a fetch response, ends the iteration; with `strict` it
    raises ProtocolError.
    """
    position = 0
    end = len(buffer)
    while end - position >= HEADER_BYTES:
        header = read_header(buffer, position)
        batch_end = position + header.batch_length + LENGTH_PREFIX_BYTES
        if batch_end > end:
            break
        yield position, header
        position = batch_end
    if strict and position != end:
        raise ProtocolError(
            f"the {end - position} bytes from byte {position} on are not a whole record batch"
        )


def validate_batch(buffer: Buffer, position: int = 0, *, allow_gaps: bool = False) -> BatchHeader:
    """Checks that a batch is complete, consistent and has a valid checksum, and returns its header.

    A producer's batch has one record for each of its offsets. Compaction leaves gaps and even empty
    batches: use `allow_gaps` for batches from a log.
    """
    header = read_header(buffer, position)
    size = header.size_in_bytes
    if position + size > len(buffer):
        raise ProtocolError(
            f"the record batch at byte {position} takes {size} bytes; "
            f"{len(buffer) - position} are there"
        )
    offset_count = header.last_offset_delta + 1
    count = header.record_count
    count_min = 0 if allow_gaps else offset_count
    if offset_count < 1 or not count_min <= count <= offset_count:
        raise ProtocolError(
            f"the record batch at byte {position} has the record count {count}, but covers "
            f"offsets: {offset_count}"
        )
    verify_crc(buffer, position, header)
    return header


def compute_crc(buffer: Buffer, position: int, header: BatchHeader) -> int:
    batch_end = position + header.batch_length + LENGTH_PREFIX_BYTES
    return crc32c(memoryview(buffer)[position + ATTRIBUTES_AT : batch_end])


def crc_matches(buffer: Buffer, position: int, header: BatchHeader) -> bool:
    return compute_crc(buffer, position, header) == header.crc


def verify_crc(buffer: Buffer, position: int, header: BatchHeader) -> None:
    computed = compute_crc(buffer, position, header)
    if computed != header.crc:
        raise ProtocolError(
            f"the record batch at byte {position} is corrupt: its CRC-32C is {computed:#010x}, "
            f"its header says {header.crc:#010x}"
        )


def read_body(
    buffer: Buffer,
    position: int,
    header: BatchHeader,
    *,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> bytes:
    """The records of a complete batch, decompressed, as bytes."""
    return bytes(open_body(buffer, position, header, decompressed_bytes_max=decompressed_bytes_max))


def open_body(
    buffer: Buffer, position: int, header: BatchHeader, *, decompressed_bytes_max: int
) -> Buffer:
    """The records of a complete batch, decompressed; without compression, a view of the buffer.

    Rejects a batch with more records than its body can contain, or with offsets beyond 64 bits, so
    that callers can rely on these numbers.
    """
    records_end = position + header.batch_length + LENGTH_PREFIX_BYTES
    if records_end > len(buffer):
        raise ProtocolError(f"the record batch at byte {position} is cut off")
    body: Buffer = memoryview(buffer)[position + HEADER_BYTES : records_end]
    if (codec := header.codec) is not Codec.NONE:
        body = decompress(codec, body, output_bytes_max=decompressed_bytes_max)
    if header.last_offset > _INT64_MAX:
        raise ProtocolError(f"the record batch at byte {position} runs past the last offset")
    if not 0 <= header.record_count * _RECORD_BYTES_MIN <= len(body):
        raise ProtocolError(
            f"the record batch at byte {position} has the record count {header.record_count}, but "
            f"bytes of records: {len(body)}"
        )
    return body


def assign_offset_and_epoch(
    buffer: bytearray | memoryview,
    position: int,
    *,
    base_offset: Offset,
    leader_epoch: LeaderEpoch,
) -> None:
    """Set the batch's offset and epoch. The checksum does not cover them."""
    _int64.pack_into(buffer, position, base_offset)
    _int32.pack_into(buffer, position + LEADER_EPOCH_AT, leader_epoch)


def set_max_timestamp(
    buffer: bytearray | memoryview, position: int, timestamp_ms: TimestampMs
) -> None:
    """Set the header's max timestamp and update the checksum."""
    _int64.pack_into(buffer, position + MAX_TIMESTAMP_AT, timestamp_ms)
    crc = compute_crc(buffer, position, read_header(buffer, position))
    _uint32.pack_into(buffer, position + CRC_AT, crc)


def stamp_log_append_time(
    buffer: bytearray | memoryview, position: int, timestamp_ms: TimestampMs
) -> None:
    """Make `timestamp_ms` the timestamp of every record in the batch."""
    header = read_header(buffer, position)
    attributes = header.attributes | LOG_APPEND_TIME_FLAG
    _int16.pack_into(buffer, position + ATTRIBUTES_AT, attributes)
    _int64.pack_into(buffer, position + MAX_TIMESTAMP_AT, timestamp_ms)
    _uint32.pack_into(buffer, position + CRC_AT, compute_crc(buffer, position, header))
