"""A client that sends all it may is held to its quota, as far as Kafka's arithmetic holds it: in
bursts. What it sends first is forgotten all at once when its window is too old, and then the next
burst is due. So its average over half a minute depends on where that begins; over minutes it is the
quota, or a little less."""

from __future__ import annotations

import pytest

from ottla.quotas.meters import RateMeter
from ottla.quotas.sampled_rate import Windows

RATE = 10_000_000
LINK = 200_000_000
REQUEST_BYTES = 100_000
SECONDS = 300
# A burst is what all windows but the current one allow.
BURST = 10 * RATE


def sent_by_greedy_client(*, is_fetching: bool) -> list[tuple[float, int]]:
    """The times in seconds and the sizes of what it sends or gets."""
    meter = RateMeter(Windows(count=11, size_seconds=1))
    meter.limit = RATE
    now_ms, sent = 0.0, []
    while now_ms < SECONDS * 1_000:
        now_ms += REQUEST_BYTES / LINK * 1_000
        at = int(now_ms)
        if is_fetching:
            is_sent, throttle_ms = meter.admit(REQUEST_BYTES, at)
        else:
            is_sent, throttle_ms = True, meter.record(REQUEST_BYTES, at)
        if is_sent:
            sent.append((now_ms / 1_000, REQUEST_BYTES))
        now_ms += throttle_ms
    return sent


@pytest.mark.parametrize("is_fetching", [False, True], ids=["produce", "fetch"])
def test_the_average_over_minutes_is_the_quota(is_fetching: bool) -> None:
    sent = sent_by_greedy_client(is_fetching=is_fetching)
    total = sum(size for _, size in sent)
    assert total / SECONDS == pytest.approx(RATE, rel=0.05)


@pytest.mark.parametrize("is_fetching", [False, True], ids=["produce", "fetch"])
def test_half_a_minute_has_one_burst_more_at_most(is_fetching: bool) -> None:
    sent = sent_by_greedy_client(is_fetching=is_fetching)
    for start in range(SECONDS - 30):
        seen = sum(size for at, size in sent if start <= at < start + 30)
        assert seen <= 30 * RATE + BURST
