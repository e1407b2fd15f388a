"""One direction of a simulated connection: bytes that left one end and did not reach the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from ottla.simulation.network.fabric import Fabric

_PIECE_PROBABILITY: Final = 0.05


class Ending(Enum):
    """What may follow the last byte."""

    FINISHED = auto()
    RESET = auto()


class Stream:
    """In order and complete, or ended. `arrived` is called on nobody's loop: it is the kernel's."""

    def __init__(
        self,
        fabric: Fabric,
        source: str,
        target: str,
        arrived: Callable[[bytes | Ending], None],
    ) -> None:
        self._fabric = fabric
        self._scheduler = fabric.scheduler
        self._source = source
        self._target = target
        self._arrived = arrived
        self._flight: deque[bytes | Ending] = deque()
        self._last_arrival = 0.0

    def send(self, data: bytes) -> None:
        """As one segment, or seldom as two, so that nobody relies on where one ends."""
        dice = self._fabric.dice
        if len(data) > 1 and dice.chance(_PIECE_PROBABILITY):
            cut = dice.between(low=1, high=len(data) - 1)
            self._send(data[:cut])
            self._send(data[cut:])
        else:
            self._send(data)

    def finish(self) -> None:
        self._send(Ending.FINISHED)

    def reset(self) -> None:
        """Overtakes what is under way, which is lost."""
        self._flight.clear()
        self._send(Ending.RESET)

    def stall(self, seconds: float) -> None:
        """What is sent from now on does not arrive before that, as when a packet is lost and sent
        again. Other connections between the same hosts overtake it."""
        self._last_arrival = max(self._last_arrival, self._scheduler.now + seconds)

    def lose(self) -> None:
        """Drops what is under way."""
        self._flight.clear()

    def _send(self, item: bytes | Ending) -> None:
        fabric = self._fabric
        length = len(item) if isinstance(item, bytes) else 0
        arrival = self._scheduler.now + fabric.seconds(self._source, self._target, length)
        if arrival < self._last_arrival:
            arrival = self._last_arrival
        self._last_arrival = arrival
        self._flight.append(item)
        self._scheduler.call_at(
            arrival, fabric.when_reached, self._source, self._target, self._arrive
        )

    def _arrive(self) -> None:
        """The first that is under way arrives. After a reset there are more calls than items."""
        if self._flight:
            self._arrived(self._flight.popleft())
