"""Kafka's five codecs by their attribute numbers, with a limit for the decompressed size.

The size that a compressed body declares cannot be trusted, so the output buffer grows with the
actual output and never beyond the caller's limit. The rest is specific to Kafka:

- Snappy is framed by snappy-java ("xerial") in most clients and raw in a few. Both are read; the
  framing is written.
- LZ4 frames must have independent blocks, or Kafka's Java classes reject them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from enum import IntEnum

import cramjam

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError

_GZIP_WBITS = 31
_OUTPUT_BYTES_MIN = 4096
_OUTPUT_GROWTH = 4

# cramjam's message for a full output buffer; all other errors are caused by the input.
_OUTPUT_IS_FULL = "failed to write whole buffer"

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
_XERIAL_LENGTH = struct.Struct(">i")

# The densest snappy element expands 3 bytes to 64.
_SNAPPY_EXPANSION_MAX = 22


class OutputTooLargeError(ProtocolError):
    """A body whose decompressed size exceeds the caller's limit."""


class Codec(IntEnum):
    """A batch's compression codec, stored in the low three bits of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Codec, data: Buffer, *, level: int | None = None) -> bytes:
    """Compresses `data`. Snappy has no levels and ignores `level`."""
    if codec is Codec.NONE:
        return bytes(data)
    if codec is Codec.GZIP:
        deflate = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, _GZIP_WBITS)
        return deflate.compress(data) + deflate.flush()
    if codec is Codec.SNAPPY:
        return _compress_xerial(memoryview(data))
    if codec is Codec.LZ4:
        frame = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
        frame.compress(bytes(data))
        return bytes(frame.finish())
    return bytes(cramjam.zstd.compress(data, level=level))


def decompress(codec: Codec, data: Buffer, *, output_bytes_max: int) -> bytes:
    """Decompresses `data`. Raises ProtocolError if it is corrupt or truncated, and
    OutputTooLargeError if the result is larger than the limit.
    """
    if codec is Codec.NONE:
        return bytes(data)
    if codec is Codec.SNAPPY:
        return _decompress_snappy(memoryview(data), output_bytes_max)
    return _decompress_frames(codec, data, output_bytes_max)


# Each of these reads any number of concatenated frames in linear time; the standard library's gzip
# copies the remaining input once per frame.
_open_frames: dict[Codec, Callable[[Buffer, bytearray], int]] = {
    Codec.GZIP: cramjam.gzip.decompress_into,
    Codec.LZ4: cramjam.lz4.decompress_into,
    Codec.ZSTD: cramjam.zstd.decompress_into,
}


def _decompress_frames(codec: Codec, data: Buffer, output_bytes_max: int) -> bytes:
    """Starts with a buffer proportional to the input; retries with a larger one while it is full.

    Starting over costs less than a third more than knowing the size would.
    """
    capacity = max(_OUTPUT_BYTES_MIN, len(data) * _OUTPUT_GROWTH)
    while True:
        output = bytearray(min(capacity, output_bytes_max))
        try:
            size = _open_frames[codec](data, output)
        except cramjam.DecompressionError as error:
            if str(error) != _OUTPUT_IS_FULL:
                raise _corrupt(codec, str(error)) from None
            if capacity >= output_bytes_max:
                raise _too_large(codec, output_bytes_max) from None
            capacity *= _OUTPUT_GROWTH
        else:
            return bytes(memoryview(output)[:size])


def _compress_xerial(data: memoryview) -> bytes:
    parts = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        parts += (_XERIAL_LENGTH.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: memoryview, output_bytes_max: int) -> bytes:
    """Raw snappy cannot be mistaken for framed: the magic is not valid raw snappy, because its
    first element is an invalid copy.
    """
    if data[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _open_snappy_block(data, room=output_bytes_max, output_bytes_max=output_bytes_max)
    blocks = []
    room = output_bytes_max
    position = 0
    while position < len(data):
        if data[position : position + len(_XERIAL_MAGIC)] == _XERIAL_MAGIC:
            # The header of the stream, or of another stream appended to it.
            position += len(_XERIAL_HEADER)
            continue
        start = position + _XERIAL_LENGTH.size
        if start > len(data):
            raise _corrupt(Codec.SNAPPY, "the stream ends inside a block's length")
        (length,) = _XERIAL_LENGTH.unpack_from(data, position)
        position = start + length
        if length < 0 or position > len(data):
            raise _corrupt(Codec.SNAPPY, f"a block of {length} bytes, {len(data) - start} are left")
        block = _open_snappy_block(
            data[start:position], room=room, output_bytes_max=output_bytes_max
        )
        room -= len(block)
        blocks.append(block)
    if position > len(data):
        raise _corrupt(Codec.SNAPPY, "the stream ends inside its header")
    return b"".join(blocks)


def _open_snappy_block(block: memoryview, *, room: int, output_bytes_max: int) -> bytes:
    try:
        size = cramjam.snappy.decompress_raw_len(block)
        if size > len(block) * _SNAPPY_EXPANSION_MAX:
            raise _corrupt(Codec.SNAPPY, f"{len(block)} bytes cannot hold the {size} they declare")
        if size > room:
            raise _too_large(Codec.SNAPPY, output_bytes_max)
        output = bytearray(size)
        cramjam.snappy.decompress_raw_into(block, output)
    except cramjam.DecompressionError as error:
        raise _corrupt(Codec.SNAPPY, str(error)) from None
    return bytes(output)


def _corrupt(codec: Codec, reason: str) -> ProtocolError:
    return ProtocolError(f"a {codec.name.lower()} body cannot be decompressed: {reason}")


def _too_large(codec: Codec, output_bytes_max: int) -> OutputTooLargeError:
    return OutputTooLargeError(
        f"a {codec.name.lower()} body holds more than the {output_bytes_max} bytes allowed here"
    )
