"""Prints a history for a person, with frequent events summarized."""

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
from ottla.simulation.history.security_events import (
    LoginAnswered,
    LoginBegun,
    RequestAnswered,
    RequestForwarded,
)

# Frequent events: only their number is printed.
_COMMON: Final = (
    Sent,
    Acknowledged,
    Read,
    WatermarkSeen,
    ImageSeen,
    LoginAnswered,
    LoginBegun,
    RequestAnswered,
    RequestForwarded,
)


def trace(history: History, *, whole: bool = False) -> Iterator[str]:
    """One line per event, or per run of frequent events."""
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
    names = {Sent: "sent", Acknowledged: "acknowledged", Read: "read", RequestAnswered: "decided"}
    return names.get(type(event), "looks")


def _counted(passed: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(passed.items()))
