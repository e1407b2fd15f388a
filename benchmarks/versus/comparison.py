"""Both sides in turn, and what comes of it: the median of each, their ratio, the bound it holds."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from statistics import median
from typing import Protocol, TypeVar

from benchmarks.figure import Figure
from benchmarks.versus.scale import Scale
from benchmarks.versus.servers import OttlaServer, Server
from tests.conformance.kafka.process import reason_unavailable


class Named(Protocol):
    @property
    def name(self) -> str: ...


class Startable(Named, Protocol):
    def start(self) -> object: ...


Sample = TypeVar("Sample")
Side = TypeVar("Side", bound=Named)
Kind = TypeVar("Kind")
Running = TypeVar("Running", bound=Startable)
# The samples of each side by its name.
Samples = dict[str, list[Sample]]
# Shows what is being measured.
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bound:
    """What has to hold of our value by itself, or of its ratio to the other side's."""

    ratio_min: float | None = None
    ratio_max: float | None = None
    value_max: float | None = None

    def text(self, unit: str) -> str:
        parts = []
        if self.ratio_min is not None:
            parts.append(f">= {self.ratio_min:g} times")
        if self.ratio_max is not None:
            parts.append(f"<= {self.ratio_max:g} times")
        if self.value_max is not None:
            parts.append(f"< {self.value_max:g} {unit}")
        return ", ".join(parts)

    def holds(self, value: float, against: float | None) -> bool:
        if self.value_max is not None and value >= self.value_max:
            return False
        if against is None:
            return self.ratio_min is None and self.ratio_max is None
        if self.ratio_min is not None and value < self.ratio_min * against:
            return False
        return self.ratio_max is None or value <= self.ratio_max * against


NO_BOUND = Bound()


@dataclass(frozen=True, slots=True)
class Bench:
    """What every measurement gets: the two servers, both running, and how much to measure."""

    servers: Sequence[Server]
    scale: Scale
    report: Report


def available(
    ottla: type[Kind], kafka: type[Kind], note: Callable[[str], None]
) -> list[type[Kind]]:
    """Both sides, or Ottla alone where Apache Kafka cannot run; then `note` is called."""
    reason = reason_unavailable()
    if reason is None:
        return [ottla, kafka]
    note(f"Ottla alone, without Apache Kafka beside it: {reason}")
    return [ottla]


@contextlib.contextmanager
def started(
    sides: Iterable[AbstractContextManager[Running]], report: Report
) -> Iterator[list[Running]]:
    """All sides run until the `with` ends."""
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(side) for side in sides]
        for side in running:
            report(f"starting {side.name}")
            side.start()
        yield running


def alternate(
    sides: Sequence[Side],
    measure: Callable[[Side], Sample],
    *,
    rounds: int,
    what: str,
    report: Report,
) -> Samples[Sample]:
    """One round of each side after the other, so that a disturbance of a while meets both.

    What was written before is on the disk when a round begins. Otherwise the kernel, with as much
    to write as it allows, holds back the measured server, and a round measures the disk.
    """
    samples: Samples[Sample] = {side.name: [] for side in sides}
    for number in range(rounds):
        for side in sides:
            os.sync()
            report(f"{what}: {side.name}, round {number + 1} of {rounds}")
            samples[side.name].append(measure(side))
    return samples


def compared(
    name: str,
    unit: str,
    samples: Samples[Sample],
    value: Callable[[Sample], float],
    bound: Bound = NO_BOUND,
    *,
    of_rounds: Callable[[Iterable[float]], float] = median,
) -> Figure:
    """Of each side's rounds the median counts, or what else is asked for."""
    values = {side: of_rounds(map(value, of_side)) for side, of_side in samples.items()}
    ours = values.pop(OttlaServer.name)
    theirs = next(iter(values.values()), None)
    if theirs is None:
        bound = Bound(value_max=bound.value_max)
    return Figure(
        name, ours, unit, against=theirs, bound=bound.text(unit), holds=bound.holds(ours, theirs)
    )


def unbound(figure: Figure) -> Figure:
    """The figure without its bound: of a client that may itself be what limits."""
    return replace(figure, bound="", holds=True)
