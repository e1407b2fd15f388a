"""Frames out of a stream, however it arrives, with memory in proportion to what arrived."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.wire.errors import ProtocolError
from ottla.wire.frames import FrameReader

LIMIT = 1024 * 1024


def framed(*frames: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)


def receive(reader: FrameReader, data: bytes) -> list[memoryview]:
    """Feed all of the data, as much at a time as the reader has room for."""
    frames = []
    position = 0
    while position < len(data):
        room = reader.get_buffer()
        count = min(len(room), len(data) - position)
        assert count
        room[:count] = data[position : position + count]
        position += count
        reader.buffer_filled(count)
        while (frame := reader.next_frame()) is not None:
            frames.append(frame)
    return frames


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.binary(max_size=200)
        | st.integers(0, 300_000).map(lambda size: bytes([size % 251]) * size),
        max_size=6,
    ),
    st.lists(st.integers(1, 5000) | st.integers(60_000, 200_000), min_size=1, max_size=8),
)
def test_any_chunking_yields_the_same_frames(frames: list[bytes], sizes: list[int]) -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    stream = framed(*frames)
    received: list[memoryview] = []
    position = turn = 0
    while position < len(stream):
        size = sizes[turn % len(sizes)]
        received += receive(reader, stream[position : position + size])
        position += size
        turn += 1
    assert reader.next_frame() is None
    assert received == frames


def test_frames_stay_as_they_were_and_may_be_written() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    contents = [bytes([number]) * (number * 37) for number in range(250)]
    frames = receive(reader, framed(*contents))
    assert frames == contents
    for frame in frames:
        frame[:1] = b"!" if frame else b""
    assert [bytes(frame[1:]) for frame in frames] == [content[1:] for content in contents]


def test_pipelined_frames_share_the_chunk_they_were_received_into() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    stream = framed(*[b"request"] * 20)
    room = reader.get_buffer()
    room[: len(stream)] = stream
    reader.buffer_filled(len(stream))
    frames = []
    while (frame := reader.next_frame()) is not None:
        frames.append(frame)
    assert len(frames) == 20
    assert {id(frame.obj) for frame in frames} == {id(room.obj)}


def test_large_frame_is_received_straight_into_its_own_buffer() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    content = bytes(range(256)) * 2048
    (frame,) = receive(reader, framed(content))
    assert frame == content
    assert len(bytes(frame.obj)) == len(content) + 4


def test_next_frame_is_not_received_behind_a_large_one() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    receive(reader, struct.pack(">i", 100_000))
    rest = 100_000
    while rest:
        room = reader.get_buffer()
        assert len(room) <= max(rest, 64 * 1024)
        count = min(len(room), rest)
        reader.buffer_filled(count)
        rest -= count
    assert len(reader.next_frame() or b"") == 100_000


def test_declared_size_is_not_allocated_before_it_arrives() -> None:
    reader = FrameReader(frame_bytes_max=2**31 - 1)
    tracemalloc.start()
    try:
        receive(reader, struct.pack(">i", 100 * 1024 * 1024))
        reader.get_buffer()
        _, peak = tracemalloc.get_traced_memory()
        assert peak < 128 * 1024
        tracemalloc.reset_peak()
        receive(reader, bytes(300 * 1024))
        reader.get_buffer()
        _, peak = tracemalloc.get_traced_memory()
        assert peak < 2 * 1024 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mebibytes", [1, 5, 9, 20])
def test_memory_of_a_large_frame_follows_the_bytes_that_arrived(mebibytes: int) -> None:
    reader = FrameReader(frame_bytes_max=2**31 - 1)
    receive(reader, struct.pack(">i", 100 * LIMIT))
    for _ in range(mebibytes):
        receive(reader, bytes(LIMIT))
    memory = reader.get_buffer().obj
    assert isinstance(memory, bytearray)
    assert len(memory) <= max(2 * mebibytes * LIMIT, 16 * LIMIT) + 4


def test_released_reader_keeps_no_memory() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT, keeps_memory=True)
    tracemalloc.start()
    try:
        (frame,) = receive(reader, framed(b"x" * 500_000))
        content = bytes(frame)
        receive(reader, framed(bytes(900_000))[:600_000])
        reader.release()
        assert frame == content
        assert not reader.has_received
        del frame, content
        current, _ = tracemalloc.get_traced_memory()
        assert current < 64 * 1024
    finally:
        tracemalloc.stop()
    assert receive(reader, framed(b"again")) == [b"again"]


def test_large_frame_arriving_bit_by_bit_is_copied_only_when_its_buffer_is_full() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    receive(reader, struct.pack(">i", 900_000))
    buffers = set()
    for _ in range(900):
        buffers.add(id(reader.get_buffer().obj))
        assert receive(reader, bytes(999)) == []
    assert len(buffers) < 6


def test_idle_connection_keeps_no_frame_alive() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    tracemalloc.start()
    try:
        (frame,) = receive(reader, framed(bytes(500_000)))
        del frame
        current, _ = tracemalloc.get_traced_memory()
        assert current < 64 * 1024
    finally:
        tracemalloc.stop()


def test_kept_memory_is_received_into_when_it_has_no_views() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT, keeps_memory=True)
    first, second = bytes(range(250)) * 2_000, bytes(range(240)) * 2_000
    (frame,) = receive(reader, framed(first))
    memory = id(frame.obj)
    view = frame[100:200]
    del frame
    (other,) = receive(reader, framed(second))
    assert id(other.obj) != memory
    assert view == first[100:200]
    assert other == second
    memory = id(other.obj)
    del other
    for content in (second, bytes(70_000), second[1:]):
        (frame,) = receive(reader, framed(content))
        assert id(frame.obj) == memory
        assert frame == content
        del frame
    assert view == first[100:200]


def test_frame_that_kept_memory_cannot_hold_gets_its_own() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT, keeps_memory=True)
    for size in (200_000, 400_000, 300_000):
        content = bytes([size % 251]) * size
        (frame,) = receive(reader, framed(content) + framed(b"small"))[:1]
        assert frame == content
        del frame


@pytest.mark.parametrize("size", [-1, -(2**31), LIMIT + 1, 2**31 - 1])
def test_size_out_of_bounds_is_refused(size: int) -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    with pytest.raises(ProtocolError, match=f"a frame of {size} bytes where at most {LIMIT}"):
        receive(reader, struct.pack(">i", size))
    with pytest.raises(ProtocolError):
        reader.next_frame()


def test_peer_that_begins_with_a_tls_handshake_is_recognized() -> None:
    frames = FrameReader(frame_bytes_max=LIMIT)
    hello = bytes.fromhex("1603010200")
    frames.get_buffer()[: len(hello)] = hello
    frames.buffer_filled(len(hello))
    with pytest.raises(ProtocolError, match="the peer uses TLS, and this listener does not"):
        frames.next_frame()


def test_frames_before_a_bad_size_are_still_handed_out() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    stream = framed(b"one", b"two") + struct.pack(">i", -5)
    reader.get_buffer()[: len(stream)] = stream
    reader.buffer_filled(len(stream))
    assert bytes(reader.next_frame() or b"") == b"one"
    assert bytes(reader.next_frame() or b"") == b"two"
    with pytest.raises(ProtocolError):
        reader.next_frame()


def test_limit_may_change_between_frames() -> None:
    reader = FrameReader(frame_bytes_max=10)
    stream = framed(b"0123456789", b"0123456789x")
    reader.get_buffer()[: len(stream)] = stream
    reader.buffer_filled(len(stream))
    assert bytes(reader.next_frame() or b"") == b"0123456789"
    reader.frame_bytes_max = 11
    assert bytes(reader.next_frame() or b"") == b"0123456789x"
    assert reader.next_frame() is None


def test_empty_frame_is_a_frame() -> None:
    reader = FrameReader(frame_bytes_max=LIMIT)
    assert receive(reader, framed(b"", b"x", b"")) == [b"", b"x", b""]
