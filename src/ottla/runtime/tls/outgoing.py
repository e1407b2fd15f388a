"""What is queued for encryption: buffers, and ranges of files, which are read piece by piece."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from ottla.model.buffers import Buffer
from ottla.runtime.disk import File
from ottla.runtime.system_disk import OUT_OF_DESCRIPTORS

_PIECE_BYTES: Final = 256 * 1024
# Each buffer becomes a record of its own, and a copy is cheaper than a small record.
_JOINED_BYTES_MAX: Final = 64 * 1024


class OutgoingBuffers:
    """Buffers that are sent back to back."""

    __slots__ = ("_buffers", "_index", "_position")

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        if len(buffers) > 1 and sum(map(len, buffers)) <= _JOINED_BYTES_MAX:
            buffers = [b"".join(buffers)]
        self._buffers = buffers
        self._index = self._position = 0

    @property
    def is_sent(self) -> bool:
        return self._index == len(self._buffers)

    def next_bytes(self) -> Buffer:
        if self.is_sent:
            return b""
        view = memoryview(self._buffers[self._index])
        piece = view[self._position : self._position + _PIECE_BYTES]
        self._position += len(piece)
        if self._position == len(view):
            self._index += 1
            self._position = 0
        return piece

    def close(self) -> None: ...


class OutgoingFile:
    """A range of a file. It has a descriptor of its own, because the file may be closed or removed
    before all of it is sent. Closed by `close`."""

    __slots__ = ("_descriptor", "_end", "_position")

    def __init__(self, descriptor: int, *, position: int, length: int) -> None:
        self._descriptor = descriptor
        self._position, self._end = position, position + length

    @classmethod
    def of(cls, file: File, *, position: int, length: int) -> OutgoingFile | OutgoingBuffers:
        try:
            descriptor = file.duplicate_descriptor()
        except OSError as error:
            if error.errno not in OUT_OF_DESCRIPTORS:
                raise
            descriptor = None
        if descriptor is None:
            return OutgoingBuffers([file.read_at(position, length)])
        return cls(descriptor, position=position, length=length)

    @property
    def is_sent(self) -> bool:
        return self._position == self._end

    def next_bytes(self) -> Buffer:
        """Raises EOFError if the file is shorter than the range."""
        length = min(_PIECE_BYTES, self._end - self._position)
        piece = os.pread(self._descriptor, length, self._position)
        if not piece:
            raise EOFError(f"the file to send ended {self._end - self._position} bytes early")
        self._position += len(piece)
        return piece

    def close(self) -> None:
        os.close(self._descriptor)
