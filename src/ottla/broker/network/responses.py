"""The responses of a connection that are encoded and not written yet. They are written together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from ottla.broker.network.request_metrics import ApiMetrics, Timing
from ottla.broker.network.tenant_door import TenantDoor
from ottla.metrics import Counter
from ottla.model import Buffer, Part
from ottla.runtime.network import Connection
from ottla.storage.files.file_slice import COPIED_BYTES_MAX, FileSlice
from ottla.wire.messages.fetch import FetchResponse
from ottla.wire.requests import encode_response_into, encode_whole_response
from ottla.wire.schema import Message

# Responses are batched up to this size. Backpressure of the peer is noticed only when writing.
_BYTES_MAX: Final = 64 * 1024


class Responses:
    """Belongs to one connection."""

    __slots__ = ("_bytes", "_door", "_has_files", "_monotonic", "_parts", "_sent_bytes", "_timings")

    def __init__(
        self, monotonic: Callable[[], float], sent_bytes: Counter, door: TenantDoor | None
    ) -> None:
        self._door = door
        self._monotonic = monotonic
        self._sent_bytes = sent_bytes
        self._parts: list[Part] = []
        self._bytes = 0
        # Only Fetch responses contain file slices; all others are written as one buffer.
        self._has_files = False
        self._timings: list[Timing] = []

    @property
    def are_many(self) -> bool:
        return self._bytes > _BYTES_MAX

    def add(
        self,
        response: Message,
        version: int,
        correlation_id: int,
        metrics: ApiMetrics | None,
        timing: Timing | None,
    ) -> None:
        """A response that is not measured has no metrics, one that is not timed no timing."""
        if self._door is not None:
            response = self._door.leave(response, version)
        if isinstance(response, FetchResponse):
            self._has_files = True
            self._bytes += encode_response_into(
                self._parts, response, version, correlation_id=correlation_id
            )
        else:
            whole = encode_whole_response(response, version, correlation_id=correlation_id)
            self._parts.append(whole)
            self._bytes += len(whole)
        if metrics is not None:
            codes = metrics.errors_of(response)
            if codes:
                metrics.count_errors(codes)
            if timing is not None:
                self._timings.append(timing)

    def write_to(self, connection: Connection) -> None:
        parts = self._parts
        if not parts:
            return
        timings = self._timings
        self._sent_bytes.value += self._bytes
        self._parts, self._bytes = [], 0
        if timings:
            self._timings = []
        if not self._has_files:
            # Without file slices all parts are buffers.
            whole: list[Any] = parts
            connection.write(whole if len(whole) == 1 else [b"".join(whole)])
        else:
            self._has_files = False
            _write_with_files(connection, parts)
        if not timings:
            return
        now = self._monotonic()
        for metrics, times, arrived, started, handled, answered in timings:
            metrics.completed(times, arrived, started, handled, answered, now)

    def clear(self) -> None:
        self._parts.clear()
        self._timings.clear()


def _write_with_files(connection: Connection, parts: list[Part]) -> None:
    buffers: list[Buffer] = []
    for part in parts:
        if isinstance(part, FileSlice):
            data = part.read_cached() if part.size <= COPIED_BYTES_MAX else None
            if data is not None:
                buffers.append(data)
                continue
            _write(connection, buffers)
            buffers = []
            connection.send_file(part.file, position=part.position, length=part.size)
        else:
            buffers.append(cast(Buffer, part))
    _write(connection, buffers)


def _write(connection: Connection, buffers: list[Buffer]) -> None:
    if buffers:
        connection.write([b"".join(buffers)])
