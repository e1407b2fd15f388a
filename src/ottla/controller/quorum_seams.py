"""The interfaces that a replica of the metadata log needs and calls."""

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
    """The disk, clock, randomness, worker and tasks of the quorum and the controller."""

    disk: Disk
    clock: Clock
    dice: Dice
    background: Background
    tasks: Tasks


class Peers(Protocol):
    """Sends requests to the other replicas."""

    async def send(self, destination: Destination, request: Message) -> Message:
        """Raises `ChannelError` if there is no response."""

    def close(self) -> None: ...


class QuorumFollower(Protocol):
    """Is notified when this replica starts or stops leading: the controller."""

    def activate(self, epoch: int) -> None:
        """This replica leads, and its image shows all committed records."""

    def deactivate(self) -> None:
        """Another replica leads, or none."""

    def committed(self, end_offset: int) -> None:
        """All records below the offset are committed, and the image shows them."""
