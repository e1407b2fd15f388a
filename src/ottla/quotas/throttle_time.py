"""How long a client waits after it has exceeded its quota."""

from __future__ import annotations

from math import floor
from typing import Final

from ottla.quotas.sampled_rate import SampledRate
from ottla.quotas.token_bucket import TokenBucket

# The largest that a response can have: 24 days.
_THROTTLE_MS_MAX: Final = 2**31 - 1


def rate_throttle_ms(
    rate: SampledRate, limit: float, now_ms: int, *, longest_ms: int | None = None
) -> int:
    """The time after which the rate would be the limit, if nothing is recorded meanwhile; 0 within
    the limit."""
    measured = rate.per_second(now_ms)
    if measured <= limit:
        return 0
    throttle_ms = _rounded((measured - limit) / limit * rate.span_ms(now_ms))
    return throttle_ms if longest_ms is None else min(throttle_ms, longest_ms)


def bucket_throttle_ms(bucket: TokenBucket, rate: float, now_ms: int) -> int:
    """The time after which the debt of the bucket is paid; 0 without one."""
    tokens = bucket.tokens(rate, now_ms)
    return 0 if tokens >= 0 else _rounded(-tokens / rate * 1_000)


def _rounded(value: float) -> int:
    """To the nearest integer, halves up as in Java."""
    return floor(min(value, _THROTTLE_MS_MAX) + 0.5)
