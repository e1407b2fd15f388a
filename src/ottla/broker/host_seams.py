"""The seams of a node: its interfaces to disk, clock, network, randomness and threads."""

from __future__ import annotations

from typing import NamedTuple

from ottla.runtime.background import Background
from ottla.runtime.busy_poll import NO_BUSY_POLL, BusyPoll
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.runtime.network import Network


class HostSeams(NamedTuple):
    disk: Disk
    clock: Clock
    dice: Dice
    network: Network
    background: Background
    busy_poll: BusyPoll = NO_BUSY_POLL
    # Limited by the file descriptors of the process.
    connections_max: int = 1 << 31
