"""The network of one simulated process: its listeners and its connections."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from typing import Final

from ottla.runtime.network import Address, ConnectionHandler
from ottla.simulation.network.connection import SimulatedConnection, connected_pair
from ottla.simulation.network.fabric import Fabric
from ottla.simulation.seams.loop import SimulatedLoop

_FIRST_FREE_PORT: Final = 32_768


class SimulatedListener:
    """A listening port of a process. While accepting is paused, new connections are queued."""

    def __init__(
        self,
        network: SimulatedNetwork,
        address: Address,
        make_handler: Callable[[], ConnectionHandler],
    ) -> None:
        self._network = network
        self._address = address
        self._make_handler = make_handler
        self._waiting: list[SimulatedConnection] = []
        self._is_accepting = True

    @property
    def address(self) -> Address:
        return self._address

    def pause_accepting(self) -> None:
        self._is_accepting = False

    def resume_accepting(self) -> None:
        self._is_accepting = True
        self._network.loop.call_soon(self._accept)

    def close(self) -> None:
        self._network.listeners.pop(self._address.port, None)
        for connection in self._waiting:
            connection.process_ended()
        self._waiting.clear()

    def offer(self, connection: SimulatedConnection) -> None:
        """Queues a new connection for the process to accept."""
        self._waiting.append(connection)
        self._network.loop.call_soon(self._accept)

    def _accept(self) -> None:
        while self._waiting and self._is_accepting:
            self._waiting.pop(0).open(self._make_handler())


class SimulatedNetwork:
    """The network of one process on one host; ends with it. Registered in a `Neighbourhood`."""

    def __init__(self, neighbourhood: Neighbourhood, host: str, loop: SimulatedLoop) -> None:
        self.host = host
        self.loop = loop
        self.listeners: dict[int, SimulatedListener] = {}
        # A dict rather than a set: its order is the same in each run.
        self.connections: dict[SimulatedConnection, None] = {}
        self._neighbourhood = neighbourhood
        self._port = _FIRST_FREE_PORT
        neighbourhood.networks[host] = self

    def host_name(self) -> str:
        return self.host

    async def listen(
        self, address: Address, make_handler: Callable[[], ConnectionHandler]
    ) -> SimulatedListener:
        port = address.port or self.free_port()
        if port in self.listeners:
            raise OSError(errno.EADDRINUSE, f"{self.host}:{port}: address already in use")
        listener = SimulatedListener(self, Address(address.host or self.host, port), make_handler)
        self.listeners[port] = listener
        return listener

    async def connect(self, address: Address, handler: ConnectionHandler) -> SimulatedConnection:
        made: asyncio.Future[SimulatedConnection] = self.loop.create_future()
        self._neighbourhood.dial(self, address, handler, made)
        return await made

    def free_port(self) -> int:
        self._port += 1
        return self._port

    def end_connection(self, local: Address, peer: Address) -> SimulatedConnection:
        connection = SimulatedConnection(
            self.loop, local=local, peer=peer, forget=lambda gone: self.connections.pop(gone, None)
        )
        self.connections[connection] = None
        return connection

    def process_ended(self) -> None:
        """Closes all ports and resets all connections."""
        self.listeners.clear()
        for connection in self.connections:
            connection.process_ended()
        self.connections.clear()

    def power_lost(self) -> None:
        """Drops all ports and connections without notifying the peers."""
        self.listeners.clear()
        for connection in self.connections:
            connection.power_lost()
        self.connections.clear()


class Neighbourhood:
    """The current network of each host, by host name."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.networks: dict[str, SimulatedNetwork] = {}

    def dial(
        self,
        client: SimulatedNetwork,
        address: Address,
        handler: ConnectionHandler,
        made: asyncio.Future[SimulatedConnection],
    ) -> None:
        """Requests a connection. `made` completes on the client's loop, unless the reply is
        lost.
        """
        fabric, target = self.fabric, address.host

        def arrive() -> None:
            if made.cancelled() or client.loop.has_ended:
                return
            network = self.networks.get(target)
            listener = None if network is None else network.listeners.get(address.port)
            seconds = fabric.seconds(target, client.host)
            if network is None or listener is None:
                answer = lambda: client.loop.call_soon(_refuse, made, address)  # noqa: E731
            else:
                local = Address(client.host, client.free_port())
                ours = client.end_connection(local, address)
                theirs = network.end_connection(address, local)
                connected_pair(fabric, ours, theirs)
                listener.offer(theirs)
                answer = lambda: client.loop.call_soon(_accept, made, ours, handler)  # noqa: E731
            fabric.scheduler.call_later(seconds, fabric.when_reached, target, client.host, answer)

        fabric.scheduler.call_later(
            fabric.seconds(client.host, target), fabric.when_reached, client.host, target, arrive
        )


def _accept(
    made: asyncio.Future[SimulatedConnection],
    connection: SimulatedConnection,
    handler: ConnectionHandler,
) -> None:
    if made.done():
        connection.abort()
        return
    connection.open(handler)
    made.set_result(connection)


def _refuse(made: asyncio.Future[SimulatedConnection], address: Address) -> None:
    if not made.done():
        reason = f"connection refused by {address.host}:{address.port}"
        made.set_exception(ConnectionRefusedError(errno.ECONNREFUSED, reason))
