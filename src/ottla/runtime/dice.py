"""The source of randomness: all random decisions come from here, so that a seed can repeat them."""

from __future__ import annotations

import random  # noqa: TID251  this is the seam
from collections.abc import MutableSequence, Sequence
from typing import Protocol, TypeVar

from ottla.model.uuids import Uuid

T = TypeVar("T")


class Dice(Protocol):
    """A source of random values. Never shared between threads."""

    def below(self, bound: int) -> int:
        """A uniform integer from 0 to `bound` - 1."""

    def between(self, *, low: int, high: int) -> int:
        """A uniform integer from `low` to `high`, both included."""

    def chance(self, probability: float) -> bool:
        """True with that probability, from 0 (never) to 1 (always)."""

    def choice(self, options: Sequence[T]) -> T: ...

    def shuffle(self, items: MutableSequence[T]) -> None: ...

    def jitter(self, value: float, *, fraction: float) -> float:
        """A value at most `fraction` above or below, so that simultaneous timers spread out."""

    def uuid(self) -> Uuid:
        """A new id. Never one that Kafka reserves, nor one whose text starts with a dash."""


class RandomDice:
    """Random values from any of Python's generators."""

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
        """A version 4 UUID. Its version bits exclude the reserved ids, which are all below 100."""
        while True:
            raw = bytearray(self._random.randbytes(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            # Command-line tools treat a word that starts with a dash as an option. In base64, 62 is
            # a dash.
            if raw[0] >> 2 != 62:
                return Uuid(bytes(raw))


class SystemDice(RandomDice):
    """Unpredictable random values from the kernel."""

    def __init__(self) -> None:
        super().__init__(random.SystemRandom())
