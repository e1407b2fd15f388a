"""Both event loops that nodes run in: asyncio's own, and the one of a process that is a node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ottla.runtime import system_loop

_SECONDS = 20
_RUNNERS: dict[str, Callable[[Coroutine[Any, Any, None]], None]] = {
    "asyncio": asyncio.run,
    "libuv": system_loop.run,
}
_chosen = {"name": "asyncio"}


@pytest.fixture(autouse=True, params=_RUNNERS)
def each_event_loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """To be imported by a module whose tests are to be run in each."""
    monkeypatch.setitem(_chosen, "name", request.param)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    _RUNNERS[_chosen["name"]](asyncio.wait_for(scenario, _SECONDS))
