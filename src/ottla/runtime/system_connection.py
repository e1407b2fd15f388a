"""One TCP connection.

If nothing is queued, writes go straight to the kernel, with one vectored call and no copy. What the
kernel does not accept is queued in the event loop's transport. The unsent rest of a file, and
everything behind it, is queued here, and one task sends this queue. So a task exists only while a
peer reads more slowly than files are sent.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Sequence
from typing import IO, NamedTuple, cast

from ottla.model.buffers import Buffer
from ottla.runtime.disk import File
from ottla.runtime.network import Address, ConnectionHandler
from ottla.runtime.system_disk import BUFFERS_PER_CALL, OUT_OF_DESCRIPTORS


class FilePiece(NamedTuple):
    """A range of a file that is queued for sending. The file is closed after that."""

    file: IO[bytes]
    position: int
    length: int


class SystemConnection(asyncio.BufferedProtocol):
    """Connects asyncio's transport and the handler. Created by `SystemNetwork` and
    `SystemListener`."""

    def __init__(self, handler: ConnectionHandler) -> None:
        self._handler = handler
        self._queue: deque[FilePiece | Sequence[Buffer]] = deque()
        self._sender: asyncio.Task[None] | None = None
        self._error: Exception | None = None
        self._is_closing = False
        self._is_reading_paused = False
        self._is_transport_full = False
        self._is_writing_paused = False

    @property
    def peer_address(self) -> Address:
        return self._peer_address

    @property
    def local_address(self) -> Address:
        return self._local_address

    @property
    def peer_certificate(self) -> bytes | None:
        return None

    def write(self, buffers: Sequence[Buffer]) -> None:
        if self._is_closing:
            return
        if self._sender is not None:
            self._queue.append(buffers)
        else:
            self._write_now(buffers)

    def send_file(self, file: File, *, position: int, length: int) -> None:
        if self._is_closing or not length:
            return
        try:
            descriptor = file.duplicate_descriptor()
        except OSError as error:
            if error.errno not in OUT_OF_DESCRIPTORS:
                raise
            descriptor = None
        if descriptor is None:
            self.write([file.read_at(position, length)])
            return
        sent = self._send_now(descriptor, position, length)
        if sent == length:
            os.close(descriptor)
            return
        rest = os.fdopen(descriptor, "rb", buffering=0)
        self._queue.append(FilePiece(rest, position + sent, length - sent))
        if self._sender is None:
            self._sender = asyncio.get_running_loop().create_task(self._send_queue())
            self._notify_backpressure()

    def pause_reading(self) -> None:
        self._is_reading_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._is_reading_paused = False
        self._transport.resume_reading()

    def close(self) -> None:
        self._is_closing = True
        if self._sender is None:
            self._transport.close()

    def abort(self) -> None:
        self._is_closing = True
        if self._sender is not None:
            # Before the transport closes, so that the loop removes the descriptor while it is still
            # open.
            self._sender.cancel()
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._descriptor: int = transport.get_extra_info("socket").fileno()
        # A peer that has already disconnected has no address.
        self._peer_address = Address(*(transport.get_extra_info("peername") or ("", 0))[:2])
        self._local_address = Address(*transport.get_extra_info("sockname")[:2])
        try:
            self._handler.connected(self)
        except Exception as error:
            self._error = error
            self.abort()
            raise

    def get_buffer(self, sizehint: int) -> bytearray | memoryview:
        return self._handler.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        self._handler.buffer_filled(nbytes)

    def eof_received(self) -> bool:
        """After the peer's end of stream, sends the responses written so far and closes, as Kafka's
        broker does."""
        self._is_closing = True
        return self._sender is not None

    def pause_writing(self) -> None:
        self._is_transport_full = True
        self._notify_backpressure()

    def resume_writing(self) -> None:
        self._is_transport_full = False
        self._notify_backpressure()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closing = True
        if self._sender is not None:
            self._sender.cancel()
        self._drop_queue()
        self._handler.closed(exc or self._error)

    def _write_now(self, buffers: Sequence[Buffer]) -> None:
        written = 0
        if not self._transport.get_write_buffer_size():
            try:
                if len(buffers) == 1:
                    # Most responses: `write` is a third cheaper than `writev`.
                    written = os.write(self._descriptor, buffers[0])
                    if written == len(buffers[0]):
                        return
                else:
                    written = os.writev(self._descriptor, buffers[:BUFFERS_PER_CALL])
            except OSError:
                # Nothing was sent. The transport gets the same error and handles it.
                written = 0
        for buffer in buffers:
            if written < len(buffer):
                self._transport.write(memoryview(buffer)[written:])
            written = max(written - len(buffer), 0)

    def _send_now(self, descriptor: int, position: int, length: int) -> int:
        """Sends what the kernel accepts without waiting."""
        if self._sender is not None or self._transport.get_write_buffer_size():
            return 0
        try:
            return os.sendfile(self._descriptor, descriptor, position, length)
        except OSError:
            return 0

    async def _send_queue(self) -> None:
        try:
            while self._queue:
                item = self._queue.popleft()
                if isinstance(item, FilePiece):
                    await self._send_file(item)
                else:
                    self._write_now(item)
        except Exception as error:
            self._error = error
            self._transport.abort()
        finally:
            self._sender = None
        if self._is_closing:
            self._transport.close()
        else:
            self._notify_backpressure()

    async def _send_file(self, piece: FilePiece) -> None:
        position, end = piece.position, piece.position + piece.length
        with piece.file as file:
            while self._transport.get_write_buffer_size():
                await self._writable()
            while position < end:
                try:
                    sent = os.sendfile(self._descriptor, file.fileno(), position, end - position)
                except BlockingIOError:
                    await self._writable()
                    continue
                if not sent:
                    raise EOFError(f"the file to send ended {end - position} bytes early")
                position += sent

    async def _writable(self) -> None:
        """Waits until the kernel accepts more. Uses a duplicate descriptor, because the transport
        watches the original and a loop allows one watcher per descriptor."""
        loop = asyncio.get_running_loop()
        writable = loop.create_future()
        descriptor = os.dup(self._descriptor)
        loop.add_writer(descriptor, _wake, writable)
        try:
            await writable
        finally:
            loop.remove_writer(descriptor)
            os.close(descriptor)

    def _notify_backpressure(self) -> None:
        is_full = self._is_transport_full or self._sender is not None
        if is_full != self._is_writing_paused:
            self._is_writing_paused = is_full
            if is_full:
                self._handler.pause_writing()
            else:
                self._handler.resume_writing()

    def _drop_queue(self) -> None:
        for item in self._queue:
            if isinstance(item, FilePiece):
                item.file.close()
        self._queue.clear()


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
