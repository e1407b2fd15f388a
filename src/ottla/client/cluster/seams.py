"""The outside world of a client: the host's, or a simulated one."""

from __future__ import annotations

from typing import NamedTuple

from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.network import Network


class ClientSeams(NamedTuple):
    """Clock, network and randomness of one client."""

    clock: Clock
    network: Network
    dice: Dice

    @classmethod
    def system(cls) -> ClientSeams:
        from ottla.runtime.dice import SystemDice
        from ottla.runtime.system_clock import SystemClock
        from ottla.runtime.system_network import SystemNetwork

        return cls(SystemClock(), SystemNetwork(), SystemDice())
