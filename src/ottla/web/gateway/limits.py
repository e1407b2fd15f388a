"""What one gateway accepts at most."""

from __future__ import annotations

from typing import NamedTuple

from ottla.web.gateway.callers.caller_pool import PoolLimits
from ottla.web.gateway.sessions.session_table import SessionLimits


class GatewayLimits(NamedTuple):
    """Above them a request is answered with 413, or with 429 where it may succeed later."""

    body_bytes_max: int = 16 << 20
    batch_messages_max: int = 10_000
    # Of messages that were accepted and not yet acknowledged by the cluster.
    in_flight_bytes_max: int = 32 << 20
    poll_records_max: int = 10_000
    poll_bytes_max: int = 16 << 20
    poll_wait_ms_max: int = 60_000
    connections_max: int = 10_000
    streams_max: int = 500
    sessions: SessionLimits = SessionLimits()
    callers: PoolLimits = PoolLimits()
