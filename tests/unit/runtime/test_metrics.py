"""Counting, and what percentiles promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.runtime.metrics import Histogram, Metrics


def test_the_same_name_and_labels_are_the_same_metric() -> None:
    metrics = Metrics()
    metrics.counter("requests", api="Fetch", listener="a").add(2)
    metrics.counter("requests", listener="a", api="Fetch").add()
    metrics.counter("requests", api="Produce", listener="a").add()
    metrics.gauge("partitions").set(4)
    metrics.gauge("partitions").add(-1)
    assert [
        (name, metric.value) for name, metric in metrics if not isinstance(metric, Histogram)
    ] == [
        (("requests", (("api", "Fetch"), ("listener", "a"))), 3),
        (("requests", (("api", "Produce"), ("listener", "a"))), 1),
        (("partitions", ()), 3.0),
    ]


def test_one_name_is_of_one_kind() -> None:
    metrics = Metrics()
    metrics.counter("requests", api="Fetch")
    with pytest.raises(ValueError, match="metric requests is a Counter, not a Gauge"):
        metrics.gauge("requests")


def test_an_empty_histogram_has_percentile_zero() -> None:
    assert Histogram().percentile(99) == 0


@given(st.lists(st.floats(0, 1e12) | st.integers(0, 10**9), min_size=1), st.floats(0.1, 100))
def test_a_percentile_is_at_most_an_eighth_above_the_exact_one(
    values: list[float], percent: float
) -> None:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    values.sort()
    position = max(-int(-len(values) * percent // 100), 1) - 1
    exact = values[min(position, len(values) - 1)]
    found = histogram.percentile(percent)
    assert exact <= found <= max(exact * 1.125, 2e-6)
    assert (histogram.count, histogram.least, histogram.greatest) == (
        len(values),
        values[0],
        values[-1],
    )


def test_values_beyond_the_scale_count_at_its_edge() -> None:
    histogram = Histogram()
    for value in (-5.0, 0.0, 1e300):
        histogram.record(value)
    assert histogram.percentile(50) <= 1e-5
    assert histogram.percentile(100) > 1e12
