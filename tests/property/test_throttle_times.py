"""Throttle times are what Kafka answers for the same history of requests.

The model is another implementation of Kafka's rules, written from them: it keeps every recorded
value with its time, and computes each rate from all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from ottla.quotas.meters import BucketMeter, RateMeter
from ottla.quotas.sampled_rate import Windows

STEPS_MS = st.one_of(
    st.integers(0, 30), st.integers(0, 2_000), st.integers(0, 15_000), st.just(1_000)
)
WINDOWS = st.builds(lambda count, seconds: (count, seconds), st.integers(1, 12), st.integers(1, 3))
VALUES = st.one_of(st.integers(0, 1_000), st.floats(0, 1e7, allow_nan=False))


@dataclass
class Slot:
    """A place in Kafka's list of samples."""

    begins: int
    events: list[tuple[int, float]] = field(default_factory=list)

    def newest(self) -> int:
        return self.events[-1][0] if self.events else self.begins


class ModelRate:
    """`SampledStat` and `Rate`, with the events kept."""

    def __init__(self, count: int, seconds: int) -> None:
        self.count, self.width = count, seconds * 1_000
        self.slots: list[Slot] = []
        self.at = 0

    def add(self, value: float, now: int) -> None:
        if not self.slots:
            self.slots = [Slot(now)]
        if now >= self.slots[self.at].begins + self.width:
            self.at = self.at + 1 if self.at < self.count else 0
            fresh = Slot(now)
            self.slots[self.at : self.at + 1] = [fresh]
        self.slots[self.at].events.append((now, value))

    def expire(self, now: int) -> None:
        self.slots = [
            Slot(now) if slot.newest() <= now - self.count * self.width else slot
            for slot in self.slots
        ] or [Slot(now)]

    def span(self, now: int) -> int:
        self.expire(now)
        oldest = now - min(slot.begins for slot in self.slots)
        whole = oldest // self.width
        padded = oldest + max(0, self.count - 1 - whole) * self.width
        return padded if padded > 0 else 1

    def throttle(self, limit: float, now: int, longest: int | None) -> int:
        span = self.span(now)
        total = math.fsum(value for slot in self.slots for _, value in slot.events)
        rate = total / (span / 1_000)
        if rate <= limit:
            return 0
        waits = math.floor((rate - limit) / limit * span + 0.5)
        return waits if longest is None else min(longest, waits)


@given(
    windows=WINDOWS,
    limit=st.floats(0.5, 1e6),
    history=st.lists(st.tuples(STEPS_MS, VALUES), max_size=60),
    is_bounded=st.booleans(),
)
def test_a_rate_throttles_as_in_kafka(
    windows: tuple[int, int],
    limit: float,
    history: list[tuple[int, float]],
    is_bounded: bool,
) -> None:
    count, seconds = windows
    longest = seconds * 1_000 if is_bounded else None
    meter = RateMeter(Windows(count=count, size_seconds=seconds), longest_ms=longest)
    meter.limit = limit
    model, now = ModelRate(count, seconds), 1_700_000_000_000
    for step, value in history:
        now += step
        model.add(value, now)
        # What a response can have at the most.
        expected = min(model.throttle(limit, now, longest), 2**31 - 1)
        # The sums are rounded in another order.
        assert abs(meter.record(value, now) - expected) <= 1 + expected * 1e-9


@given(
    windows=WINDOWS,
    limit=st.floats(1, 1e5),
    history=st.lists(st.tuples(STEPS_MS, st.integers(1, 200_000)), max_size=60),
)
def test_a_response_that_is_taken_back_does_not_count(
    windows: tuple[int, int], limit: float, history: list[tuple[int, int]]
) -> None:
    """As Kafka's Fetch responses: each is within the quota, or empty."""
    count, seconds = windows
    meter = RateMeter(Windows(count=count, size_seconds=seconds))
    meter.limit = limit
    now = 0
    sent: list[tuple[int, int]] = []
    for step, size in history:
        now += step
        allowed = limit * (count - 1) * seconds
        recent = sum(size for at, size in sent if at > now - (count - 1) * seconds * 1_000)
        if meter.admit(size, now).is_admitted:
            assert not recent or recent + size <= max(allowed, limit * count * seconds) * 1.000_001
            sent.append((now, size))


class ModelBucket:
    """`TokenBucket`: what was taken, less what flowed in since the bucket was last full."""

    def __init__(self, count: int, seconds: int, rate: float) -> None:
        self.rate, self.size = rate, rate * count * seconds
        self.debt, self.since = 0.0, 0

    def missing(self, now: int) -> float:
        """How much the bucket is below full."""
        self.debt = max(0.0, self.debt - (now - self.since) / 1_000 * self.rate)
        self.since = now
        return self.debt

    def throttle(self, now: int) -> int:
        below = self.missing(now) - self.size
        return math.floor(below / self.rate * 1_000 + 0.5) if below > 0 else 0


@given(
    windows=WINDOWS,
    rate=st.floats(0.1, 100),
    history=st.lists(st.tuples(STEPS_MS, st.integers(1, 500)), max_size=60),
    is_strict=st.booleans(),
)
def test_changes_of_topics_throttle_as_in_kafka(
    windows: tuple[int, int], rate: float, history: list[tuple[int, int]], is_strict: bool
) -> None:
    count, seconds = windows
    meter = BucketMeter(Windows(count=count, size_seconds=seconds))
    meter.limit = rate
    model, now = ModelBucket(count, seconds, rate), 0
    for step, partitions in history:
        now += step
        expected = model.throttle(now)
        assert abs(meter.throttle_ms(now) - expected) <= 1 + expected * 1e-9
        if is_strict and expected:
            continue
        model.missing(now)
        model.debt += partitions
        meter.record(partitions, now)
