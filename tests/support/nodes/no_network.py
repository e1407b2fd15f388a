"""A host without a network: every attempt to connect fails."""

from __future__ import annotations

from collections.abc import Callable

from ottla.channels import ChannelError
from ottla.raft import Destination
from ottla.runtime.network import Address, Connection, ConnectionHandler, Listener
from ottla.wire.schema import Message


class NoNetwork:
    def host_name(self) -> str:
        return "alone.example"

    async def listen(
        self, address: Address, make_handler: Callable[[], ConnectionHandler]
    ) -> Listener:
        raise OSError(f"{address} cannot be listened on: there is no network")

    async def connect(self, address: Address, handler: ConnectionHandler) -> Connection:
        raise OSError(f"{address} cannot be reached: there is no network")


class NoPeers:
    """The other replicas of a quorum of one."""

    async def send(self, destination: Destination, request: Message) -> Message:
        raise ChannelError(f"{type(request).__name__} cannot be sent to {destination}")

    def close(self) -> None: ...
