"""Notices that the writer's process is gone.

A group notices a dead member when its session times out, which brokers do not allow below six
seconds. But where nothing listens on the writer's port any more, the process has ended: then
another instance removes the member, and the group elects at once. A writer that is slow, or behind
a broken network, keeps its session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from ottla.runtime.clock import Clock
from ottla.web.registry.storing.membership import ElectedWriter

_SECONDS: Final = 0.25
_TIMEOUT_S: Final = 2.0
# A port is closed for a moment when a process restarts.
_REFUSALS: Final = 2


async def watch_writer(
    clock: Clock, writer: ElectedWriter, is_gone: Callable[[ElectedWriter], Awaitable[None]]
) -> None:
    """Returns after it has called `is_gone`."""
    refusals = 0
    while refusals < _REFUSALS:
        await clock.sleep(_SECONDS)
        refusals = 0 if await _is_listening(writer) else refusals + 1
    await is_gone(writer)


async def _is_listening(writer: ElectedWriter) -> bool:
    """False only if the connection is refused."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            _, stream = await asyncio.open_connection(writer.address.host, writer.address.port)
    except ConnectionRefusedError:
        return False
    except (OSError, TimeoutError):
        return True
    stream.close()
    return True
