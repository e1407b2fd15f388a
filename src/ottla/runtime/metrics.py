"""Metrics of the process: counters, gauges and histograms with names and labels.

Callers look a metric up once and keep it, so that counting costs a call and an addition. This
module exports nothing; exporters read the registry. For one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import frexp, inf, ldexp
from typing import NamedTuple, TypeAlias, TypeVar

# Buckets per power of two. A bucket is therefore at most an eighth wide.
_BUCKETS_PER_POWER = 8
# The range is 10**-6 to 16 * 10**12 units. Values outside it count in the first or last bucket.
_EXPONENT_MIN = -20
_EXPONENT_MAX = 44
_BUCKETS = (_EXPONENT_MAX - _EXPONENT_MIN) * _BUCKETS_PER_POWER


class Counter:
    """A number that only increases."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def add(self, amount: int = 1) -> None:
        self.value += amount


class Gauge:
    """A number that increases and decreases."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def set(self, value: float) -> None:
        self.value = value

    def add(self, amount: float) -> None:
        self.value += amount


class Histogram:
    """The distribution of values, in logarithmic buckets.

    Count, total, least and greatest are exact; a percentile is at most an eighth too high.
    """

    __slots__ = ("_buckets", "count", "greatest", "least", "total")

    def __init__(self) -> None:
        self._buckets = [0] * _BUCKETS
        self.count = 0
        self.total = 0.0
        self.least = inf
        self.greatest = -inf

    def record(self, value: float) -> None:
        """Counts one value. Values of zero or less, as from clocks that jump, count in the first
        bucket."""
        mantissa, exponent = frexp(value)
        if mantissa > 0.0:
            # The mantissa is at least 0.5 and below 1.
            index = int((exponent - _EXPONENT_MIN + 2.0 * mantissa - 1.0) * _BUCKETS_PER_POWER)
            self._buckets[min(max(index, 0), _BUCKETS - 1)] += 1
        else:
            self._buckets[0] += 1
        self.count += 1
        self.total += value
        if value < self.least:
            self.least = value
        if value > self.greatest:
            self.greatest = value

    def percentile(self, percent: float) -> float:
        """A value that this percentage of the recorded values does not exceed; 0 if there are
        none."""
        wanted = self.count * percent / 100
        seen = 0
        for index, count in enumerate(self._buckets):
            seen += count
            if count and seen >= wanted:
                return min(max(_upper_bound(index), self.least), self.greatest)
        return 0.0


Metric: TypeAlias = Counter | Gauge | Histogram
M = TypeVar("M", Counter, Gauge, Histogram)


class MetricName(NamedTuple):
    name: str
    labels: tuple[tuple[str, str], ...]


class Metrics:
    """All metrics of one node. The same name and labels always return the same metric."""

    def __init__(self) -> None:
        self._metrics: dict[MetricName, Metric] = {}
        self._kinds: dict[str, type[Metric]] = {}

    def counter(self, name: str, **labels: str) -> Counter:
        return self._metric(Counter, name, labels)

    def gauge(self, name: str, **labels: str) -> Gauge:
        return self._metric(Gauge, name, labels)

    def histogram(self, name: str, **labels: str) -> Histogram:
        return self._metric(Histogram, name, labels)

    def __iter__(self) -> Iterator[tuple[MetricName, Metric]]:
        return iter(self._metrics.items())

    def _metric(self, kind: type[M], name: str, labels: dict[str, str]) -> M:
        first_kind = self._kinds.setdefault(name, kind)
        if first_kind is not kind:
            raise ValueError(f"metric {name} is a {first_kind.__name__}, not a {kind.__name__}")
        key = MetricName(name, tuple(sorted(labels.items())))
        found = self._metrics.get(key)
        if found is None:
            found = self._metrics[key] = kind()
        assert isinstance(found, kind)
        return found


def _upper_bound(index: int) -> float:
    power, step = divmod(index + 1, _BUCKETS_PER_POWER)
    return ldexp(0.5 + step / (2 * _BUCKETS_PER_POWER), power + _EXPONENT_MIN)
