"""A client that logs in with passwords and tokens that are not valid any more.

A node accepts them as long as its metadata has not caught up.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from ottla.channels.errors import ChannelError
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.world.host import Host
from ottla.wire.messages.metadata import MetadataRequest

_PAUSE_MS_MAX: Final = 1_500
_METADATA_VERSION: Final = 12
_TIMEOUT_MS: Final = 2_000


class SimulatedThief:
    """Belongs to the process of its host. `run` never returns."""

    def __init__(self, host: Host, bootstrap: Sequence[Address]) -> None:
        self._host = host
        self._bootstrap = list(bootstrap)
        self._dice = host.dice.fork("thief")
        self._logins = 0

    async def run(self) -> None:
        while True:
            await self._host.clock.sleep(self._dice.below(_PAUSE_MS_MAX) / 1_000)
            self._logins += 1
            await log_in(self._host, self._bootstrap, name=f"thief {self._logins}")


async def log_in(host: Host, bootstrap: Sequence[Address], *, name: str) -> None:
    """Logs in on a new connection, perhaps in vain, and sends a request."""
    client = ClusterClient(host, bootstrap, name=name)
    with suppress(ChannelError):
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        await client.send_to_any(request, _METADATA_VERSION, timeout_ms=_TIMEOUT_MS)
    client.close()
