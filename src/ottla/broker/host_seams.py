"""The seams of a node: everything outside that it touches."""

from __future__ import annotations

from typing import NamedTuple

from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.runtime.network import Network
from ottla.runtime.vigil import NO_VIGIL, Vigil


class HostSeams(NamedTuple):
    disk: Disk
    clock: Clock
    dice: Dice
    network: Network
    background: Background
    vigil: Vigil = NO_VIGIL
    # How many connections the host has descriptors for.
    connections_max: int = 1 << 31
