"""How a connection to a node is secured: by TLS, and then by a SASL exchange."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ottla.runtime.network import Address, Connection, ConnectionHandler, Network
from ottla.security.sasl.mechanism import ClientMechanism

if TYPE_CHECKING:
    from ottla.runtime.tls.endpoint import TlsEndpoint


# Called for each connection: with None when the node has accepted this side, with an error when
# one of the two sides has refused the other.
OnOutcome: TypeAlias = Callable[[Address, OSError | None], None]


def _unobserved(address: Address, error: OSError | None) -> None: ...


@dataclass(frozen=True, slots=True)
class ChannelSecurity:
    """`mechanism` makes the client's side of one SASL exchange; None means no authentication.
    `prepare` is awaited before, and gets what it needs, such as a token."""

    tls: TlsEndpoint | None = None
    mechanism: Callable[[], ClientMechanism] | None = None
    on_outcome: OnOutcome = _unobserved
    prepare: Callable[[], Coroutine[Any, Any, None]] | None = None

    async def connect(
        self, network: Network, address: Address, handler: ConnectionHandler
    ) -> Connection:
        """Returns after the TLS handshake, if there is one."""
        if self.tls is None:
            return await network.connect(address, handler)
        return await self.tls.connect(network, address, handler)


PLAINTEXT: Final = ChannelSecurity()
