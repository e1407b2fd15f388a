"""Connections of a node that stops."""

from __future__ import annotations

from typing import Final

from ottla.broker.network.connections import Connections
from ottla.runtime.clock import Clock

_DRAIN_SECONDS: Final = 1.0
_STEP_SECONDS: Final = 0.002


async def close_connections(connections: Connections, clock: Clock) -> None:
    """Gives clients a moment to read what was written to them, and no more than that."""
    for connection in connections:
        connection.close()
    deadline = clock.monotonic() + _DRAIN_SECONDS
    while connections and clock.monotonic() < deadline:
        await clock.sleep(_STEP_SECONDS)
    for connection in connections:
        connection.abort()


async def turn_away(connections: Connections, clock: Clock) -> None:
    """Ends what other nodes connected while this one left the quorum; some of it may still be on
    its way from the listener."""
    await clock.sleep(_STEP_SECONDS)
    for connection in connections:
        connection.abort()
