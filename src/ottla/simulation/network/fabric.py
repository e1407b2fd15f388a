"""The network between simulated hosts: delays, bandwidth and cut links.

A link has a direction. Data sent over a cut link is held, because TCP retransmits it, and arrives
after the link heals. Existing connections survive a cut unless one end closes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.seams.scheduler import Scheduler

_USUAL_MICROSECONDS: Final = (60, 600)
_BYTES_PER_SECOND: Final = 1e9


@dataclass(slots=True)
class Link:
    """The state of one direction between two hosts."""

    is_cut: bool = False
    extra_seconds: float = 0.0
    bytes_per_second: float = _BYTES_PER_SECOND

    def heal(self) -> None:
        self.is_cut, self.extra_seconds, self.bytes_per_second = False, 0.0, _BYTES_PER_SECOND


class Fabric:
    """The links between all hosts, which are identified by name. Owned by the world."""

    def __init__(self, scheduler: Scheduler, dice: SeededDice) -> None:
        self.scheduler = scheduler
        self.dice = dice
        self._links: dict[tuple[str, str], Link] = {}
        self._off: set[str] = set()
        # Calls held until a link or a host is back, in the order of sending.
        self._stalled: list[tuple[str, str, Callable[[], object]]] = []

    def link(self, source: str, target: str) -> Link:
        """The link; always the same object."""
        found = self._links.get((source, target))
        if found is None:
            found = self._links[source, target] = Link()
        return found

    def cut(self, source: str, target: str) -> None:
        self.link(source, target).is_cut = True

    def slow(self, source: str, target: str, *, seconds: float, bytes_per_second: float) -> None:
        link = self.link(source, target)
        link.extra_seconds, link.bytes_per_second = seconds, bytes_per_second

    def heal(self, source: str, target: str) -> None:
        """Restores a link to its default state."""
        self.link(source, target).heal()
        self._go_on()

    def heal_all(self) -> None:
        for link in self._links.values():
            link.heal()
        self._go_on()

    def host_off(self, host: str) -> None:
        self._off.add(host)

    def host_on(self, host: str) -> None:
        self._off.discard(host)
        self._go_on()

    def clear(self) -> None:
        """Drops everything that is held."""
        self._stalled.clear()

    def reaches(self, source: str, target: str) -> bool:
        return target not in self._off and not (
            source != target and self.link(source, target).is_cut
        )

    def seconds(self, source: str, target: str, length: int = 0) -> float:
        """The time to transfer this many bytes at present."""
        low, high = _USUAL_MICROSECONDS
        usual = self.dice.between(low=low, high=high) / 1e6
        if source == target:
            return usual / 4
        link = self.link(source, target)
        return usual + link.extra_seconds + length / link.bytes_per_second

    def when_reached(self, source: str, target: str, call: Callable[[], object]) -> None:
        """Calls at once if the target can be reached, otherwise some time after it can be again."""
        if self.reaches(source, target):
            call()
        else:
            self._stalled.append((source, target, call))

    def _go_on(self) -> None:
        stalled, self._stalled = self._stalled, []
        for source, target, call in stalled:
            if not self.reaches(source, target):
                self._stalled.append((source, target, call))
                continue
            seconds = self.seconds(source, target)
            self.scheduler.call_later(seconds, self.when_reached, source, target, call)
