"""The outside world of a client: the host's, or a simulated one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.network import Network
from ottla.wire.schema import Message

# Called with a node's id, a request and its response.
ObserveResponse: TypeAlias = Callable[[int, Message, Any], None]


class ClientSeams(NamedTuple):
    """Clock, network and randomness of one client. A simulation may observe its responses."""

    clock: Clock
    network: Network
    dice: Dice
    observe: ObserveResponse | None = None

    @classmethod
    def system(cls) -> ClientSeams:
        from ottla.runtime.dice import SystemDice
        from ottla.runtime.system_clock import SystemClock
        from ottla.runtime.system_network import SystemNetwork

        return cls(SystemClock(), SystemNetwork(), SystemDice())
