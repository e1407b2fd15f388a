"""How the clients of a simulation are configured: with short timeouts, for the network's faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ottla.client.cluster import ClientSeams
from ottla.client.cluster.seams import ObserveResponse
from ottla.runtime.network import Address
from ottla.simulation.world.host import Host

_PROPERTIES: Final = {
    "request.timeout.ms": 5_000,
    "socket.connection.setup.timeout.ms": 2_000,
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 500,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 500,
    "metadata.max.age.ms": 10_000,
}


def client_properties(host: Host, bootstrap: Sequence[Address], name: str) -> dict[str, Any]:
    """Those of every client, in the process of a host."""
    return {
        **_PROPERTIES,
        "bootstrap.servers": [str(address) for address in bootstrap],
        "client.id": name,
        "security": host.channel_security(bootstrap[0]),
    }


def client_seams(host: Host, name: str, observe: ObserveResponse | None = None) -> ClientSeams:
    return ClientSeams(host.clock, host.network, host.dice.fork(name), observe)
