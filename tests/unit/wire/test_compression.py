"""Codecs against pyarrow and the standard library, and against input that means harm."""

from __future__ import annotations

import contextlib
import gzip
import struct
import tracemalloc

import cramjam
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.wire.errors import ProtocolError
from ottla.wire.records.compression import Codec, compress, decompress

COMPRESSING = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
TEXT = b"".join(b"event %d of user %d; " % (number, number % 13) for number in range(9_000))
MEBIBYTE = 1024 * 1024


def pyarrow_compress(name: str, data: bytes) -> bytes:
    return bytes(pyarrow.compress(data, codec=name, asbytes=True))


def pyarrow_decompress(name: str, data: bytes, size: int) -> bytes:
    return bytes(pyarrow.decompress(data, decompressed_size=size, codec=name, asbytes=True))


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("data", [b"", b"x", TEXT])
def test_every_codec_round_trips(codec: Codec, data: bytes) -> None:
    assert decompress(codec, compress(codec, data), output_bytes_max=len(data)) == data


@pytest.mark.parametrize("codec", list(Codec))
def test_views_are_taken_as_well_as_bytes(codec: Codec) -> None:
    packed = bytearray(b"before") + compress(codec, memoryview(bytearray(TEXT)))
    assert decompress(codec, memoryview(packed)[6:], output_bytes_max=MEBIBYTE) == TEXT


@pytest.mark.parametrize(
    ("codec", "name"), [(Codec.GZIP, "gzip"), (Codec.LZ4, "lz4"), (Codec.ZSTD, "zstd")]
)
def test_pyarrow_and_we_read_each_other(codec: Codec, name: str) -> None:
    assert pyarrow_decompress(name, compress(codec, TEXT), len(TEXT)) == TEXT
    assert decompress(codec, pyarrow_compress(name, TEXT), output_bytes_max=MEBIBYTE) == TEXT


def test_bare_snappy_is_read() -> None:
    packed = pyarrow_compress("snappy", TEXT)
    assert decompress(Codec.SNAPPY, packed, output_bytes_max=len(TEXT)) == TEXT


def test_snappy_is_written_in_the_framing_of_snappy_java() -> None:
    packed = compress(Codec.SNAPPY, TEXT)
    assert packed[:16] == b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    position = 16
    blocks: list[bytes] = []
    while position < len(packed):
        (length,) = struct.unpack_from(">i", packed, position)
        position += 4 + length
        size = min(32 * 1024, len(TEXT) - 32 * 1024 * len(blocks))
        blocks.append(pyarrow_decompress("snappy", packed[position - length : position], size))
    assert b"".join(blocks) == TEXT


def test_lz4_blocks_are_independent_as_java_demands() -> None:
    flags = compress(Codec.LZ4, TEXT)[4]
    assert flags & 0x20


@pytest.mark.parametrize("codec", COMPRESSING)
def test_several_streams_in_a_row_are_all_read(codec: Codec) -> None:
    packed = compress(codec, b"first, ") + compress(codec, b"") + compress(codec, b"second")
    assert decompress(codec, packed, output_bytes_max=100) == b"first, second"


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_levels_change_the_size_and_not_the_content(codec: Codec) -> None:
    low, high = compress(codec, TEXT, level=1), compress(codec, TEXT, level=9)
    assert len(low) != len(high)
    assert decompress(codec, high, output_bytes_max=len(TEXT)) == TEXT


@pytest.mark.parametrize("codec", COMPRESSING)
def test_output_may_fill_the_limit_but_not_exceed_it(codec: Codec) -> None:
    packed = compress(codec, TEXT)
    assert decompress(codec, packed, output_bytes_max=len(TEXT)) == TEXT
    with pytest.raises(ProtocolError, match="more than the"):
        decompress(codec, packed, output_bytes_max=len(TEXT) - 1)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_bomb_is_stopped_at_the_limit(codec: Codec) -> None:
    bomb = compress(codec, bytes(64 * MEBIBYTE))
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError, match="more than the"):
            decompress(codec, bomb, output_bytes_max=MEBIBYTE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MEBIBYTE + len(bomb)


def test_declared_size_of_a_snappy_block_is_checked() -> None:
    lie = b"\xff\xff\xff\xff\x0f" + b"\x00" * 20
    with pytest.raises(ProtocolError, match="cannot hold"):
        decompress(Codec.SNAPPY, lie, output_bytes_max=2**40)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_truncated_input_is_refused(codec: Codec) -> None:
    packed = compress(codec, TEXT)
    for length in (0, 1, 5, 10, 17, len(packed) // 2, len(packed) - 1):
        with pytest.raises(ProtocolError, match="cannot be decompressed"):
            decompress(codec, packed[:length], output_bytes_max=MEBIBYTE)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_garbage_after_the_stream_is_refused(codec: Codec) -> None:
    with pytest.raises(ProtocolError, match="cannot be decompressed"):
        decompress(codec, compress(codec, TEXT) + b"garbage", output_bytes_max=MEBIBYTE)


def test_gzip_with_a_wrong_checksum_is_refused() -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-8] ^= 1
    with pytest.raises(ProtocolError, match="checksum"):
        decompress(Codec.GZIP, packed, output_bytes_max=MEBIBYTE)


@settings(max_examples=150, deadline=None)
@given(
    codec=st.sampled_from(COMPRESSING),
    edits=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_corrupt_input_is_refused_or_read_but_nothing_else(
    codec: Codec, edits: list[tuple[int, int]]
) -> None:
    packed = bytearray(compress(codec, TEXT[:20_000]))
    for position, byte in edits:
        packed[position % len(packed)] = byte
    with contextlib.suppress(ProtocolError):
        assert len(decompress(codec, packed, output_bytes_max=MEBIBYTE)) <= MEBIBYTE


def test_library_still_says_that_the_output_is_full_in_these_words() -> None:
    for module in (cramjam.gzip, cramjam.lz4, cramjam.zstd):
        with pytest.raises(cramjam.DecompressionError, match=r"^failed to write whole buffer$"):
            module.decompress_into(bytes(module.compress(TEXT)), bytearray(10))
