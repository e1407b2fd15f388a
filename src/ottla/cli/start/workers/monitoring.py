"""One address for the metrics and the health of all workers of a host.

Each worker serves its own on a loopback port; the supervisor reads them when it is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Final, NamedTuple

from ottla.cli.exit_codes import CommandError
from ottla.cli.start.workers.combined_text import combine_texts
from ottla.metrics.rendering import text_format
from ottla.runtime.http.messages import HttpRequest, HttpResponse
from ottla.runtime.http.server import HttpServer
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork

_WORKER_SECONDS_MAX: Final = 10.0


class Page(NamedTuple):
    """What a worker answered. One that did not answer has status 503."""

    status: int
    text: str


class WorkersMonitoring:
    """`workers` are the addresses of the workers' own metrics, in the order of their numbers."""

    def __init__(self, workers: Sequence[Address]) -> None:
        self._workers = tuple(workers)
        self._server = HttpServer(SystemNetwork(), SystemClock(), self._answer)

    async def open(self, address: Address) -> Address:
        """Returns the bound address. Raises OSError."""
        return await self._server.open(address)

    async def close(self) -> None:
        await self._server.close()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.path not in ("/metrics", "/healthz", "/readyz"):
            return HttpResponse(b"try /metrics, /healthz or /readyz\n", HTTPStatus.NOT_FOUND)
        accept = request.headers.get("accept", "")
        pages = await asyncio.gather(
            *(asyncio.to_thread(_read, worker, request.path, accept) for worker in self._workers)
        )
        if request.path == "/metrics":
            return page_of_metrics(pages, accept)
        return page_of_health(pages)


def page_of_metrics(pages: Sequence[Page], accept: str) -> HttpResponse:
    """Of the workers that answer: the others have none."""
    texts = {number: page.text for number, page in enumerate(pages) if page.status == HTTPStatus.OK}
    if not texts:
        return HttpResponse(b"no worker answers\n", HTTPStatus.SERVICE_UNAVAILABLE)
    return HttpResponse(combine_texts(texts).encode(), content_type=text_format(accept).value)


def page_of_health(pages: Sequence[Page]) -> HttpResponse:
    """Well if all workers are."""
    lines = [f"worker {number}: {page.text.strip()}" for number, page in enumerate(pages)]
    is_well = all(page.status == HTTPStatus.OK for page in pages)
    status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
    return HttpResponse("".join(f"{line}\n" for line in lines).encode(), status)


def _read(worker: Address, path: str, accept: str) -> Page:
    connection = HTTPConnection(worker.host, worker.port, timeout=_WORKER_SECONDS_MAX)
    try:
        connection.request("GET", path, headers={"Accept": accept} if accept else {})
        response = connection.getresponse()
        return Page(response.status, response.read().decode())
    except (OSError, HTTPException) as error:
        return Page(HTTPStatus.SERVICE_UNAVAILABLE, f"does not answer ({error})")
    finally:
        connection.close()


@asynccontextmanager
async def monitored_workers(address: Address, workers: Sequence[Address]) -> AsyncIterator[None]:
    monitoring = WorkersMonitoring(workers)
    try:
        try:
            await monitoring.open(address)
        except OSError as error:
            raise CommandError(
                f"Cannot serve metrics on {address}: {(error.strerror or str(error)).lower()}.",
                "Choose another ottla.metrics.listener (--metrics).",
            ) from None
        yield
    finally:
        await monitoring.close()
