"""Version ranges in Kafka's notation: `3-12`, `9+`, `0`, or `none`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_OPEN_END = 32767


@dataclass(frozen=True, slots=True)
class Versions:
    """A closed range; empty when `lowest > highest`."""

    lowest: int
    highest: int

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __str__(self) -> str:
        if self.lowest > self.highest:
            return "none"
        if self.highest == _OPEN_END:
            return f"{self.lowest}+"
        return f"{self.lowest}-{self.highest}" if self.lowest != self.highest else f"{self.lowest}"

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))


@cache
def versions(text: str) -> Versions:
    if text == "none":
        return Versions(0, -1)
    if text.endswith("+"):
        return Versions(int(text[:-1]), _OPEN_END)
    lowest, dash, highest = text.partition("-")
    return Versions(int(lowest), int(highest if dash else lowest))
