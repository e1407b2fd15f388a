"""Scans the batches of a log file with few reads and bounded memory.

A batch longer than the rest of the file, or an invalid header, ends the scan with
`CorruptLogError`. After a crash the log is truncated there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.runtime.disk import File
from ottla.storage.errors import CorruptLogError
from ottla.wire.errors import ProtocolError
from ottla.wire.records.header import HEADER_BYTES, BatchHeader, read_header

HEADERS_READ_BYTES: Final = 16 * 1024
BATCHES_READ_BYTES: Final = 1 << 20


class LocatedBatch(NamedTuple):
    position: int
    header: BatchHeader


def scan_headers(
    file: File, start: int, end: int, *, read_bytes: int = HEADERS_READ_BYTES
) -> Iterator[tuple[int, BatchHeader]]:
    """Yields the position and header of each batch between two positions. Skips bodies where it
    can: one read returns many small batches, and large bodies are never read."""
    chunk, chunk_start = b"", start
    position = start
    while position < end:
        if position + HEADER_BYTES > chunk_start + len(chunk):
            chunk = file.read_at(position, min(read_bytes, end - position))
            chunk_start = position
        header = _header(file, chunk, position - chunk_start, position, end)
        yield position, header
        position += header.size_in_bytes


def scan_batches(
    file: File, start: int, end: int, *, read_bytes: int = BATCHES_READ_BYTES
) -> Iterator[tuple[int, BatchHeader, memoryview]]:
    """Yields the position, header and bytes of each batch. The view is valid until the next
    step."""
    buffer = bytearray(min(read_bytes, max(end - start, 0)))
    position = start
    while position < end:
        filled = file.read_into(position, [memoryview(buffer)[: end - position]])
        view, at, size = memoryview(buffer)[:filled], 0, 0
        while at < filled:
            if filled - at < HEADER_BYTES and position + filled < end:
                break  # The header continues beyond the buffer.
            header = _header(file, view, at, position + at, end)
            size = header.size_in_bytes
            if at + size > filled:
                break
            yield position + at, header, view[at : at + size]
            at += size
        if at == 0:
            # No whole batch fits into the buffer. `_header` has checked that its size is within the
            # file.
            buffer = bytearray(max(size, HEADER_BYTES))
        position += at


def _header(file: File, chunk: bytes | memoryview, at: int, position: int, end: int) -> BatchHeader:
    try:
        header = read_header(chunk, at)
    except ProtocolError as error:
        raise CorruptLogError(file.path, position=position, reason=str(error)) from error
    if position + header.size_in_bytes > end:
        raise CorruptLogError(
            file.path,
            position=position,
            reason=f"a batch of {header.size_in_bytes} bytes ends after the file's {end}",
        )
    return header
