"""The seven levels of compatibility, for schemas of any type.

A schema is backward compatible with an earlier one if it can read what was written with that one,
forward compatible if the earlier one can read what is written with it, and fully compatible if
both. Without `_TRANSITIVE`, only the latest version counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, NamedTuple, TypeVar

from ottla.schemas.difference import Difference

S = TypeVar("S")


class CompatibilityLevel(Enum):
    """The values are the names in the registry's REST API."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def is_transitive(self) -> bool:
        return self.value.endswith("_TRANSITIVE")

    @property
    def is_backward(self) -> bool:
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def is_forward(self) -> bool:
        return self.value.startswith(("FORWARD", "FULL"))


class Conflict(NamedTuple):
    """The differences from one earlier version; `place` is where it is in the list of versions."""

    place: int
    messages: tuple[str, ...]


_NEW: Final = "new"
_OLD: Final = "old"


def first_conflict(
    level: CompatibilityLevel,
    new: S,
    earlier: Sequence[S],
    unreadable: Callable[[S, S], Sequence[Difference]],
) -> Conflict | None:
    """The latest of the `earlier` versions (in order, the oldest first) with which `new` is not
    compatible. `unreadable(reader, writer)` lists why the first cannot read the second."""
    if level is CompatibilityLevel.NONE:
        return None
    versions = range(len(earlier) - 1, -1, -1)
    for index in versions if level.is_transitive else versions[:1]:
        messages: list[str] = []
        if level.is_backward:
            differences = unreadable(new, earlier[index])
            messages += [each.message(reader=_NEW, writer=_OLD) for each in differences]
        if level.is_forward:
            differences = unreadable(earlier[index], new)
            messages += [each.message(reader=_OLD, writer=_NEW) for each in differences]
        if messages:
            return Conflict(index, tuple(dict.fromkeys(messages)))
    return None
