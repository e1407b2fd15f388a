"""A history for a person: what happened, without the hundredth record that was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ottla.simulation.history.history import (
    Acknowledged,
    Event,
    History,
    ImageSeen,
    Read,
    Sent,
    WatermarkSeen,
)

# What happens all the time: told as a number between what does not.
_COMMON: Final = (Sent, Acknowledged, Read, WatermarkSeen, ImageSeen)


def trace(history: History, *, whole: bool = False) -> Iterator[str]:
    """One line for each event, or for many that are alike."""
    passed: Counter[str] = Counter()
    for at, event in history.events:
        if not whole and isinstance(event, _COMMON):
            passed[_name(event)] += 1
            continue
        if passed:
            yield f"{'':12}  {'':12} {_counted(passed)}"
            passed.clear()
        yield f"{at:12.6f}  {event}"
    if passed:
        yield f"{'':12}  {'':12} {_counted(passed)}"


def _name(event: Event) -> str:
    return {Sent: "sent", Acknowledged: "acknowledged", Read: "read"}.get(type(event), "looks")


def _counted(passed: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(passed.items()))
