"""Closes client connections when the node stops."""

from __future__ import annotations

from typing import Final

from ottla.broker.network.connections import Connections
from ottla.runtime.clock import Clock

_DRAIN_SECONDS: Final = 1.0
_STEP_SECONDS: Final = 0.002


async def close_connections(connections: Connections, clock: Clock) -> None:
    """Closes all connections; aborts those whose client has not read its responses after
    `_DRAIN_SECONDS`. Does not wait for connections that are opened meanwhile: the other nodes of
    the quorum connect again and again, because the controller's listener is still open."""
    draining = list(connections)
    for connection in draining:
        connection.close()
    deadline = clock.monotonic() + _DRAIN_SECONDS
    while clock.monotonic() < deadline and any(each in connections for each in draining):
        await clock.sleep(_STEP_SECONDS)
    for connection in connections:
        connection.abort()


async def turn_away(connections: Connections, clock: Clock) -> None:
    """Aborts connections that other nodes opened while this node left the quorum. Waits first for
    connections that the listener accepted but has not yet handed over."""
    await clock.sleep(_STEP_SECONDS)
    for connection in connections:
        connection.abort()
