"""uvicorn on our event loop: listens, serves, and ends when it is told to."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import uvicorn
from uvicorn.lifespan.off import LifespanOff

from ottla.runtime.tasks import Tasks
from ottla.web.service.http_connection import ServedConnection
from ottla.web.service.listening import HttpTls, ListenAddress, ListenError

_log = logging.getLogger(__name__)

_KEEP_ALIVE_S: Final = 75
_BACKLOG: Final = 1024
# Of requests that are being answered when the program ends.
_GRACE_S: Final = 10
_HEADER_BYTES_MAX: Final = 64 << 10
# Of a WebSocket.
_FRAME_BYTES_MAX: Final = 16 << 20


class WebServer:
    """Serves one application from `start` to `close`. uvicorn's own signal handlers, logs and
    lifespans are not used."""

    def __init__(
        self,
        application: Any,
        address: ListenAddress,
        tls: HttpTls | None = None,
        *,
        connections_max: int = 10_000,
    ) -> None:
        self._address = address
        self._config = uvicorn.Config(
            application,
            http=ServedConnection,
            ws="websockets-sansio",
            ws_max_size=_FRAME_BYTES_MAX,
            ws_per_message_deflate=False,
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            limit_concurrency=connections_max,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
            h11_max_incomplete_event_size=_HEADER_BYTES_MAX,
            **({} if tls is None else _ssl_options(tls)),
        )
        self._tasks = Tasks(_failed)
        self._server: uvicorn.Server | None = None

    async def start(self) -> ListenAddress:
        """Returns the address with the port that was chosen. Raises ListenError."""
        try:
            self._config.load()
        except OSError as error:
            raise ListenError(f"cannot load the certificate or its key: {error}") from None
        server = uvicorn.Server(self._config)
        server.lifespan = LifespanOff(self._config)

        def connection() -> asyncio.Protocol:
            protocol: asyncio.Protocol = self._config.http_protocol_class(  # type: ignore[call-arg]
                config=self._config, server_state=server.server_state, app_state={}
            )
            return protocol

        try:
            listener = await asyncio.get_running_loop().create_server(
                connection,
                host=self._address.host,
                port=self._address.port,
                ssl=self._config.ssl,
                backlog=_BACKLOG,
            )
        except OSError as error:
            raise ListenError(f"cannot listen on {self._address}: {error.strerror}") from None
        server.servers = [listener]
        server.started = True
        self._server = server
        # It keeps the Date header up to date.
        self._tasks.start("http server", server.main_loop())
        port = listener.sockets[0].getsockname()[1]
        return self._address._replace(port=port)

    async def close(self) -> None:
        """Accepts no more connections, and waits for requests that are being answered."""
        server, self._server = self._server, None
        if server is not None:
            server.should_exit = True
            await server.shutdown()
        await self._tasks.close()


def _ssl_options(tls: HttpTls) -> dict[str, Any]:
    import ssl

    options: dict[str, Any] = {
        "ssl_certfile": str(tls.certificate),
        "ssl_keyfile": str(tls.key),
        "ssl_version": ssl.PROTOCOL_TLS_SERVER,
    }
    if tls.client_ca is not None:
        options |= {"ssl_ca_certs": str(tls.client_ca), "ssl_cert_reqs": ssl.CERT_REQUIRED}
    return options


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
