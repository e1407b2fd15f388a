"""What a replica of the metadata needs of the world, and whom it tells."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ottla.raft import Destination
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.runtime.tasks import Tasks
from ottla.wire.schema import Message


class Seams(NamedTuple):
    """The world, and whoever owns the tasks of the quorum and of the controller."""

    disk: Disk
    clock: Clock
    dice: Dice
    background: Background
    tasks: Tasks


class Peers(Protocol):
    """The other replicas, as the network knows them."""

    async def send(self, destination: Destination, request: Message) -> Message:
        """Raises `ChannelError` if there is no answer."""

    def close(self) -> None: ...


class QuorumFollower(Protocol):
    """Who acts when this replica leads: the controller."""

    def activate(self, epoch: int) -> None:
        """This replica leads, and its image shows everything that was ever committed."""

    def deactivate(self) -> None:
        """Another one leads, or nobody."""

    def committed(self, end_offset: int) -> None:
        """Everything below the offset is, and the image shows it."""
