"""The values of one node's metrics.

Code that counts looks a series up once and keeps it, so that counting costs a call and an addition.
What the state of the node already says, such as the size of a log, is not counted: `measure` names
a function that reads it when the metrics are requested. For one thread.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeAlias, TypeVar

from ottla.metrics.family import Distribution, Family, MetricKind, Sample, Source


class Counter:
    """A number that only increases."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def add(self, amount: float = 1) -> None:
        self.value += amount


class Gauge:
    """A number that increases and decreases."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def set(self, value: float) -> None:
        self.value = value

    def add(self, amount: float) -> None:
        self.value += amount


class Histogram:
    """The distribution of values over fixed buckets. A value that equals a bound counts below it,
    as in Prometheus."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def record(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.total += value * times

    @property
    def value(self) -> Distribution:
        return Distribution(self.counts, self.total)


Series: TypeAlias = Counter | Gauge | Histogram
_S = TypeVar("_S", Counter, Gauge, Histogram)


class Metrics:
    """The same family and labels always return the same series."""

    def __init__(self) -> None:
        self._sources: dict[str, tuple[Family, Source]] = {}
        self._series: dict[str, dict[tuple[str, ...], Series]] = {}

    def counter(self, family: Family, *labels: str) -> Counter:
        assert family.kind is MetricKind.COUNTER, family.name
        return self._one(family, labels, Counter())

    def gauge(self, family: Family, *labels: str) -> Gauge:
        assert family.kind is MetricKind.GAUGE, family.name
        return self._one(family, labels, Gauge())

    def histogram(self, family: Family, *labels: str) -> Histogram:
        assert family.kind is MetricKind.HISTOGRAM, family.name
        return self._one(family, labels, Histogram(family.bounds))

    def measure(self, family: Family, source: Source) -> None:
        """Reads the family's samples from `source` whenever the metrics are requested."""
        assert family.name not in self._sources, f"{family.name} has two sources"
        self._sources[family.name] = (family, source)

    def families(self) -> Iterator[tuple[Family, Source]]:
        """What is exported, in the order of the names."""
        for name in sorted(self._sources):
            yield self._sources[name]

    def samples(self, family: Family) -> Iterator[Sample]:
        """The present samples of one family; none if it is not exported."""
        if family.name in self._sources:
            _, source = self._sources[family.name]
            yield from (each for each in source() if each is not None)

    def _one(self, family: Family, labels: tuple[str, ...], new: _S) -> _S:
        assert len(labels) == len(family.labels), f"{family.name} has labels {family.labels}"
        if family.name not in self._series:
            series = self._series[family.name] = {}
            self.measure(family, partial(_values, series))
        found = self._series[family.name].setdefault(labels, new)
        assert isinstance(found, type(new))
        return found


def _values(series: dict[tuple[str, ...], Series]) -> Iterable[Sample]:
    """Of a copy: series are added while the samples are read."""
    for labels, each in list(series.items()):
        yield labels, each.value
