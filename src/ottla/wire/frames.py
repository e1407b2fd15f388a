"""Size-prefixed frames out of a stream of bytes, without I/O and with as few copies as possible.

The reader owns the memory that the stream is received into. Small frames come out as views of a
shared chunk, however many one receive brought, so pipelined requests cost no copy. A frame that is
larger than a chunk gets a buffer of its own and is received straight into it; the buffer starts
small and is replaced by a larger one whenever the peer has filled it: four times as large up to a
few megabytes, twice as large beyond. So the memory follows the bytes that arrived, never the size
that the peer announced. The owner calls `release` when its connection ends, since the objects of a
connection refer to each other and may live until the next garbage collection.

Memory that was handed out lives as long as somebody holds a view of it, and is not written again
before. A reader that is to keep it receives the next large frame into it, if nobody does any more:
fresh memory has to be cleared, which takes as long as receiving.
The views are writable: a batch inside a frame gets its offset where it lies. A small frame keeps
its whole chunk alive; who wants to keep one for long copies it.
"""

from __future__ import annotations

import struct

from ottla.wire.errors import ProtocolError

# A chunk is small until the peer has shown that it fills one: idle connections are many.
_CHUNK_BYTES_SMALL = 4 * 1024
_CHUNK_BYTES = 64 * 1024
_FRAME_GROWTH = 4
# Larger frames are rare, and their unused part is what a hostile peer can make us allocate.
_LARGE_FRAME_BYTES = 4 * 1024 * 1024
_LARGE_FRAME_GROWTH = 2

# A receive into less room than this is not worth its system call.
_ROOM_BYTES_MIN = 512

_size_prefix = struct.Struct(">i")
_PREFIX_BYTES = _size_prefix.size
_NO_CHUNK = memoryview(bytearray())


class FrameReader:
    """Turns what was received into frames. Belongs to one connection, which does the receiving.

    The connection asks for a buffer, receives into it, says how much, and takes frames until there
    are none; then it asks again. The names fit `asyncio.BufferedProtocol`. `frame_bytes_max` may be
    changed between frames: small before authentication, larger after it. After a ProtocolError
    the stream has no next frame, and the connection should be closed.

    One that keeps memory is for the few connections that bring large frames again and again.
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
        # Of the chunk, [start, end) is received and not yet handed out.
        self._start = 0
        self._end = 0
        # The size of the frame at `start` with its prefix, if that much is known and it is not
        # all here.
        self._frame_bytes = 0
        self._was_filled = False

    def get_buffer(self) -> memoryview:
        """Room for the next receive, valid until `buffer_filled`."""
        room = len(self._chunk) - self._end
        if not self._frame_bytes:
            is_used_up = room < _ROOM_BYTES_MIN
        elif self._start:
            is_used_up = self._start + self._frame_bytes > len(self._chunk)
        else:
            # The chunk is this frame's own and grows only when the peer has filled it.
            is_used_up = room == 0
        if is_used_up:
            self._replace_chunk()
        return self._chunk[self._end :]

    def buffer_filled(self, byte_count: int) -> None:
        """The first `byte_count` bytes of the last buffer were received."""
        assert 0 <= byte_count <= len(self._chunk) - self._end
        self._end += byte_count
        self._was_filled = self._end == len(self._chunk)

    @property
    def has_received(self) -> bool:
        """Whether bytes are here that were not handed out, of whole frames or of part of one."""
        return self._end > self._start

    def next_frame(self) -> memoryview | None:
        """The next whole frame without its size, or None until more is received."""
        start = self._start
        received = self._end - start
        if received < _PREFIX_BYTES:
            self._frame_bytes = 0
            return None
        (size,) = _size_prefix.unpack_from(self._chunk, start)
        if not 0 <= size <= self.frame_bytes_max:
            raise ProtocolError(
                f"the peer announces a frame of {size} bytes where at most {self.frame_bytes_max} "
                f"are allowed; either it does not speak Kafka's protocol or the limit is too low"
            )
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
            # An idle connection must not keep the last frame's memory.
            self._chunk, end, self._end = _NO_CHUNK, 0, 0
        self._start = end
        self._frame_bytes = 0
        return frame

    def release(self) -> None:
        """Drops everything that was received and not handed out, and the memory that was kept.
        Frames that were handed out stay valid."""
        self._chunk, self._kept = _NO_CHUNK, bytearray()
        self._start = self._end = self._frame_bytes = 0

    def _replace_chunk(self) -> None:
        """Go on in a new chunk, with the beginning of the frame that does not fit the old one."""
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
        """Whether it holds the frame, and nobody looks at it: it could not change its size then."""
        if len(self._kept) < self._frame_bytes:
            return False
        try:
            self._kept.append(self._kept.pop())
        except BufferError:
            return False
        return True
