"""Counting, and reading what was counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.metrics import Distribution, Histogram, Metrics
from ottla.metrics.family import SECONDS, counter, gauge, histogram

REQUESTS = counter("ottla_requests_total", "Requests.", "api", "listener")
PARTITIONS = gauge("ottla_partitions", "Partitions.")
DELAY = histogram("ottla_delay_seconds", "Delay.", bounds=(0.1, 1.0))


def test_the_same_family_and_labels_are_the_same_series() -> None:
    metrics = Metrics()
    metrics.counter(REQUESTS, "Fetch", "a").add(2)
    metrics.counter(REQUESTS, "Fetch", "a").add()
    metrics.counter(REQUESTS, "Produce", "a").add()
    metrics.gauge(PARTITIONS).set(4)
    metrics.gauge(PARTITIONS).add(-1)
    assert list(metrics.samples(REQUESTS)) == [(("Fetch", "a"), 3), (("Produce", "a"), 1)]
    assert list(metrics.samples(PARTITIONS)) == [((), 3)]


def test_a_family_is_of_one_kind_and_has_its_labels() -> None:
    metrics = Metrics()
    with pytest.raises(AssertionError):
        metrics.gauge(REQUESTS, "Fetch", "a")
    with pytest.raises(AssertionError):
        metrics.counter(REQUESTS, "Fetch")


def test_a_family_has_one_source() -> None:
    metrics = Metrics()
    metrics.measure(PARTITIONS, lambda: [((), 1)])
    with pytest.raises(AssertionError, match="ottla_partitions has two sources"):
        metrics.gauge(PARTITIONS)


def test_what_is_measured_is_read_at_each_request() -> None:
    metrics, partitions = Metrics(), ["a"]
    metrics.measure(PARTITIONS, lambda: [None, ((), len(partitions))])
    assert list(metrics.samples(PARTITIONS)) == [((), 1)]
    partitions.append("b")
    assert list(metrics.samples(PARTITIONS)) == [((), 2)]


def test_a_value_at_a_bound_counts_below_it() -> None:
    metrics = Metrics()
    for value in (0.0, 0.1, 0.5, 1.0, 1.5):
        metrics.histogram(DELAY).record(value)
    assert list(metrics.samples(DELAY)) == [((), Distribution([2, 2, 1], 3.1))]


def test_families_are_read_in_the_order_of_their_names() -> None:
    metrics = Metrics()
    for family in (REQUESTS, PARTITIONS, DELAY):
        metrics.measure(family, list)
    assert [family for family, _ in metrics.families()] == [DELAY, PARTITIONS, REQUESTS]


@given(st.lists(st.floats(0, 1e6)))
def test_a_histogram_counts_every_value_in_its_bucket(values: list[float]) -> None:
    found = Histogram(SECONDS)
    for value in values:
        found.record(value)
    assert sum(found.counts) == len(values)
    for index, bound in enumerate(SECONDS):
        assert sum(found.counts[: index + 1]) == sum(value <= bound for value in values)
    assert found.total == pytest.approx(sum(values))
