"""The clients of one caller: a producer and a reader, which start when they are first used."""

from __future__ import annotations

import asyncio
import logging

from ottla.web.gateway.clients import ClientFactory, ClusterReader, MessageProducer
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS
from ottla.web.gateway.problems import RETRY_AFTER_S, GatewayProblem

_log = logging.getLogger(__name__)


class CallerClients:
    """`users` counts requests and sessions that use them: while there are any, they stay open.
    `expires_at` is when the credentials end, in the clock's monotonic seconds."""

    __slots__ = (
        "_is_closed",
        "_lock",
        "_reader",
        "expires_at",
        "factory",
        "key",
        "last_used",
        "ready_producer",
        "users",
    )

    def __init__(self, key: str, factory: ClientFactory, *, expires_at: float | None) -> None:
        self.key = key
        self.factory = factory
        self.expires_at = expires_at
        self.last_used = 0.0
        self.users = 0
        # None until it is first used.
        self.ready_producer: MessageProducer | None = None
        self._reader: ClusterReader | None = None
        self._lock = asyncio.Lock()
        self._is_closed = False

    async def producer(self) -> MessageProducer:
        if self.ready_producer is None:
            async with self._lock:
                self._require_open()
                if self.ready_producer is None:
                    self.ready_producer = await self.factory.start_producer()
        return self.ready_producer

    async def reader(self) -> ClusterReader:
        if self._reader is None:
            async with self._lock:
                self._require_open()
                if self._reader is None:
                    self._reader = await self.factory.start_reader()
        return self._reader

    async def close(self) -> None:
        """Waits for clients that are being started. A request that comes late gets no others."""
        self._is_closed = True
        async with self._lock:
            clients = (self.ready_producer, self._reader)
            self.ready_producer = self._reader = None
        for client in clients:
            try:
                if client is not None:
                    await client.close()
            except CLIENT_ERRORS as error:
                _log.info("a client of the gateway did not close: %s", error)

    def _require_open(self) -> None:
        if self._is_closed:
            raise GatewayProblem(
                503,
                "CALLERS_EXHAUSTED",
                "The gateway closed this caller's clients to serve others: send the request again.",
                retriable=True,
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
