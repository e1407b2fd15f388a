"""One HTTP connection: uvicorn's, with limits on its head and with the client's certificate."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Applications find it in the scope's state, as DER.
PEER_CERTIFICATE: Final = "peer_certificate"
_HEAD_BYTES_MAX: Final = 32_768
_HEADERS_MAX: Final = 100
_HEAD_SECONDS_MAX: Final = 20.0


class ServedConnection(HttpToolsProtocol):
    """Closes the connection if the head of a request is too large or takes too long."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        secured = transport.get_extra_info("ssl_object")
        certificate = secured.getpeercert(binary_form=True) if secured is not None else None
        if certificate:
            self.app_state = {**self.app_state, PEER_CERTIFICATE: certificate}
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        # The first one is timed from the connection on.
        self._start_timer()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > _HEAD_BYTES_MAX or len(self.headers) >= _HEADERS_MAX:
            raise ValueError("the head is too large, or has too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def _count(self, length: int) -> None:
        self._head_bytes += length
        if self._head_bytes > _HEAD_BYTES_MAX:
            # The parser answers 400 and closes the connection.
            raise ValueError("the head is too large")

    def _head_is_late(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _start_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(_HEAD_SECONDS_MAX, self._head_is_late)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
