"""Reading many partitions for one metric, with places to pause."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, TypeVar

from ottla.metrics import Sample

T = TypeVar("T")

# Looking at this many takes less than half a millisecond.
_STEP: Final = 500


def count_of(items: Iterable[T], is_counted: Callable[[T], bool]) -> Iterator[Sample | None]:
    """One sample without labels: how many items are counted. The items are copied first, because
    they change during a pause."""
    count = 0
    for number, item in enumerate(list(items), start=1):
        if is_counted(item):
            count += 1
        if number % _STEP == 0:
            yield None
    yield (), count


def in_steps(items: Collection[T]) -> Iterator[T | None]:
    """A copy of the items, with None after each step."""
    for number, item in enumerate(list(items), start=1):
        yield item
        if number % _STEP == 0:
            yield None
