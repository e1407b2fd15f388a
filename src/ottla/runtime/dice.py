"""The dice seam: whatever happens by chance asks here, so that a seed can repeat it."""

from __future__ import annotations

import random  # noqa: TID251  this is the seam
from collections.abc import MutableSequence, Sequence
from typing import Protocol, TypeVar

from ottla.model.uuids import Uuid

T = TypeVar("T")


class Dice(Protocol):
    """A source of chance. Never shared between threads."""

    def below(self, bound: int) -> int:
        """Any of 0, 1, ... `bound` - 1 alike."""

    def between(self, *, low: int, high: int) -> int:
        """Any integer from `low` to `high` alike, both included."""

    def chance(self, probability: float) -> bool:
        """True with that probability, from 0 (never) to 1 (always)."""

    def choice(self, options: Sequence[T]) -> T: ...

    def shuffle(self, items: MutableSequence[T]) -> None: ...

    def jitter(self, value: float, *, fraction: float) -> float:
        """A value at most `fraction` above or below, so that what starts together spreads out."""

    def uuid(self) -> Uuid:
        """A new id, never one that Kafka reserves nor one whose text starts with a dash."""


class RandomDice:
    """Dice over any of Python's generators."""

    def __init__(self, generator: random.Random) -> None:
        self._random = generator

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def between(self, *, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def choice(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def shuffle(self, items: MutableSequence[T]) -> None:
        self._random.shuffle(items)

    def jitter(self, value: float, *, fraction: float) -> float:
        return value * self._random.uniform(1 - fraction, 1 + fraction)

    def uuid(self) -> Uuid:
        """Version 4, whose version bits keep it away from the reserved ids, all below 100."""
        while True:
            raw = bytearray(self._random.randbytes(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            # Tools take a word that starts with a dash for an option. Base64 writes one for 62.
            if raw[0] >> 2 != 62:
                return Uuid(bytes(raw))


class SystemDice(RandomDice):
    """The kernel's chance: nobody can foretell it."""

    def __init__(self) -> None:
        super().__init__(random.SystemRandom())
