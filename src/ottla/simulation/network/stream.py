"""One direction of a simulated connection: the bytes in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from ottla.simulation.network.fabric import Fabric

_PIECE_PROBABILITY: Final = 0.05


class Ending(Enum):
    """The end of a stream: after the last byte (FIN) or immediate (RST)."""

    FINISHED = auto()
    RESET = auto()


class Stream:
    """Delivers bytes in order and without gaps. `arrived` runs outside of any process's loop."""

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
        """Sends data as one segment, or occasionally as two, so that readers meet partial data."""
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
        """Sends a reset; the data in flight is lost."""
        self._flight.clear()
        self._send(Ending.RESET)

    def stall(self, seconds: float) -> None:
        """Delays later data by at least this long, as a lost and retransmitted packet does. Other
        connections between the same hosts are not delayed.
        """
        self._last_arrival = max(self._last_arrival, self._scheduler.now + seconds)

    def lose(self) -> None:
        """Drops the data in flight."""
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
        """Delivers the oldest item in flight. After a reset there are more calls than items."""
        if self._flight:
            self._arrived(self._flight.popleft())
