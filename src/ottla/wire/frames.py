"""Splits a byte stream into size-prefixed frames, without I/O and with few copies.

The reader owns the memory that the connection receives into. Small frames are returned as views of
a shared chunk, any number per receive, so pipelined requests cost no copy. A frame larger than a
chunk gets its own buffer and is received directly into it. The buffer starts small and is replaced
by a larger one when the peer has filled it: four times as large up to a few megabytes, twice as
large beyond. So memory use follows the bytes received, never the size that the peer announced. The
owner calls `release` when its connection ends, because the objects of a connection form reference
cycles and may live until the next garbage collection.

A chunk lives as long as any view of it, and is not reused before. A reader with `keeps_memory`
receives the next large frame into the last one's buffer if no view of it is left: new memory has to
be zeroed, which takes as long as receiving.

The views are writable: offsets are assigned to batches inside a frame in place. A small frame keeps
its whole chunk alive; copy it to keep it for long.
"""

from __future__ import annotations

import struct

from ottla.wire.errors import ProtocolError

# A chunk is small until the peer has filled one, because many connections are idle.
_CHUNK_BYTES_SMALL = 4 * 1024
_CHUNK_BYTES = 64 * 1024
_FRAME_GROWTH = 4
# Larger frames are rare, and a hostile peer could make us allocate their unused part.
_LARGE_FRAME_BYTES = 4 * 1024 * 1024
_LARGE_FRAME_GROWTH = 2

# Do not receive into less room than this: the system call would not pay.
_ROOM_BYTES_MIN = 512

_size_prefix = struct.Struct(">i")
_PREFIX_BYTES = _size_prefix.size
# A TLS handshake begins with these two bytes, and would announce hundreds of megabytes.
_TLS_HANDSHAKE = 0x1603
_NO_CHUNK = memoryview(bytearray())


class FrameReader:
    """Splits received bytes into frames. Belongs to one connection, which does the receiving.

    The connection gets a buffer, receives into it, reports the number of bytes, takes frames until
    there are none, and starts again. The names are those of `asyncio.BufferedProtocol`.
    `frame_bytes_max` may be changed between frames: small before authentication, larger after it.
    After a ProtocolError the stream cannot continue and the connection should be closed.

    Use `keeps_memory` for the few connections that repeatedly receive large frames.
    """

    __slots__ = (
        "_chunk",
        "_end",
        "_frame_bytes",
        "_keeps_memory",
        "_kept",
        "_start",
        "_was_filled",
        "frame_bytes_max",
    )

    def __init__(self, *, frame_bytes_max: int, keeps_memory: bool = False) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._keeps_memory = keeps_memory
        self._kept = bytearray()
        self._chunk = _NO_CHUNK
        # [start, end) of the chunk is received and not yet returned as frames.
        self._start = 0
        self._end = 0
        # The size of the frame at `start` including its prefix; 0 if it is unknown or the frame is
        # complete.
        self._frame_bytes = 0
        self._was_filled = False

    def get_buffer(self) -> memoryview:
        """A buffer for the next receive, valid until `buffer_filled`."""
        room = len(self._chunk) - self._end
        if not self._frame_bytes:
            is_used_up = room < _ROOM_BYTES_MIN
        elif self._start:
            is_used_up = self._start + self._frame_bytes > len(self._chunk)
        else:
            # The chunk belongs to this frame and grows only after the peer has filled it.
            is_used_up = room == 0
        if is_used_up:
            self._replace_chunk()
        return self._chunk[self._end :]

    def buffer_filled(self, byte_count: int) -> None:
        """Reports that the first `byte_count` bytes of the last buffer were received."""
        assert 0 <= byte_count <= len(self._chunk) - self._end
        self._end += byte_count
        self._was_filled = self._end == len(self._chunk)

    @property
    def has_received(self) -> bool:
        """Whether received bytes were not yet returned as frames, complete or not."""
        return self._end > self._start

    def next_frame(self) -> memoryview | None:
        """The next complete frame without its size prefix, or None until more is received."""
        start = self._start
        received = self._end - start
        if received < _PREFIX_BYTES:
            self._frame_bytes = 0
            return None
        (size,) = _size_prefix.unpack_from(self._chunk, start)
        if not 0 <= size <= self.frame_bytes_max:
            raise ProtocolError(self._size_text(size))
        frame_bytes = size + _PREFIX_BYTES
        if received < frame_bytes:
            self._frame_bytes = frame_bytes
            return None
        end = start + frame_bytes
        frame = self._chunk[start + _PREFIX_BYTES : end]
        if end == len(self._chunk):
            if self._keeps_memory and end > _CHUNK_BYTES:
                memory = self._chunk.obj
                assert isinstance(memory, bytearray)
                self._kept = memory
            # An idle connection must not keep the memory of its last frame.
            self._chunk, end, self._end = _NO_CHUNK, 0, 0
        self._start = end
        self._frame_bytes = 0
        return frame

    def release(self) -> None:
        """Drops received bytes not yet returned, and the kept memory. Returned frames stay
        valid.
        """
        self._chunk, self._kept = _NO_CHUNK, bytearray()
        self._start = self._end = self._frame_bytes = 0

    def _size_text(self, size: int) -> str:
        if size >> 16 == _TLS_HANDSHAKE:
            return "the peer uses TLS, and this listener does not"
        return (
            f"the peer announces a frame of {size} bytes where at most {self.frame_bytes_max} "
            "are allowed; either it does not speak Kafka's protocol or the limit is too low"
        )

    def _replace_chunk(self) -> None:
        """Continues in a new chunk, with the start of the frame that does not fit the old one."""
        received = self._end - self._start
        capacity = _CHUNK_BYTES if self._was_filled else _CHUNK_BYTES_SMALL
        if self._frame_bytes > capacity:
            growth = _FRAME_GROWTH if received <= _LARGE_FRAME_BYTES else _LARGE_FRAME_GROWTH
            allowed = max(_CHUNK_BYTES, received * growth)
            capacity = min(self._frame_bytes, allowed)
        if self._frame_bytes > _CHUNK_BYTES and self._can_use_kept():
            chunk = memoryview(self._kept)[: self._frame_bytes]
        else:
            chunk = memoryview(bytearray(capacity))
        chunk[:received] = self._chunk[self._start : self._end]
        self._chunk, self._start, self._end = chunk, 0, received

    def _can_use_kept(self) -> bool:
        """Whether the kept memory is large enough and has no views; with views it cannot be
        resized.
        """
        if len(self._kept) < self._frame_bytes:
            return False
        try:
            self._kept.append(self._kept.pop())
        except BufferError:
            return False
        return True
