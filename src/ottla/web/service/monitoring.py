"""/metrics, /healthz and /readyz, as nodes have them."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ottla.metrics import Metrics, render
from ottla.metrics.registry import Counter, Histogram
from ottla.metrics.rendering import text_format
from ottla.metrics.table import process as process_table
from ottla.metrics.table import web as table
from ottla.runtime.clock import Clock
from ottla.runtime.process_facts import process_facts
from ottla.version import __version__

# These say nothing that needs protection, and whoever asks them has no password.
OPEN_PATHS: Final = frozenset(("/healthz", "/readyz"))
# Requested every few seconds, by other systems.
UNTRACED_PATHS: Final = OPEN_PATHS | {"/metrics"}


class WebMonitoring:
    """`not_ready` returns why the program cannot serve, or an empty text."""

    def __init__(self, metrics: Metrics, clock: Clock, not_ready: Callable[[], str]) -> None:
        self.metrics = metrics
        self._clock = clock
        self._not_ready = not_ready
        self._in_progress = metrics.gauge(table.HTTP_IN_PROGRESS)
        # By route, method and status; looking them up takes as long as the rest of the counting.
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        for family, source in (
            (process_table.CPU_SECONDS, lambda: [((), process_facts().cpu_seconds)]),
            (process_table.RESIDENT_MEMORY, lambda: [((), process_facts().resident_bytes)]),
            (
                process_table.BUILD_INFO,
                lambda: [((__version__, platform.python_version()), 1)],
            ),
        ):
            metrics.measure(family, source)

    def routes(self) -> list[Route]:
        return [
            Route("/metrics", self.metrics_text),
            Route("/healthz", self.healthy),
            Route("/readyz", self.ready),
        ]

    def started(self) -> float:
        self._in_progress.add(1)
        return self._clock.monotonic()

    def ended(self, began: float, route: str, method: str, status: int) -> None:
        self._in_progress.add(-1)
        key = (route, method, status)
        counted = self._counted.get(key)
        if counted is None:
            counted = self._counted[key] = (
                self.metrics.counter(table.HTTP_REQUESTS, route, method, str(status)),
                self.metrics.histogram(table.HTTP_SECONDS, route),
            )
        requests, seconds = counted
        requests.add()
        seconds.record(self._clock.monotonic() - began)

    async def metrics_text(self, request: Request) -> Response:
        form = text_format(request.headers.get("accept", ""))
        pieces = []
        for piece in render(self.metrics, form):
            pieces.append(piece)
            await self._clock.sleep(0)
        headers: dict[str, Any] = {"content-type": form.value}
        return Response("".join(pieces), headers=headers)

    async def healthy(self, _request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(self, _request: Request) -> Response:
        reason = self._not_ready()
        return PlainTextResponse(f"{reason or 'ok'}\n", status_code=503 if reason else 200)
