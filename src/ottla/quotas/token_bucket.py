"""A bucket of tokens, as Kafka limits changes of the metadata (KIP-599).

Tokens are added at the rate of the quota, up to those of all windows together. A request is
accepted while the bucket has no debt, and may then take more than the bucket has: bursts are
possible, and the debt delays the next request.
"""

from __future__ import annotations

from math import inf

from ottla.quotas.sampled_rate import Windows


class TokenBucket:
    """Owned by one meter. Starts full."""

    __slots__ = ("_tokens", "_updated_ms", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._tokens = inf
        self._updated_ms = 0

    def tokens(self, rate: float, now_ms: int) -> float:
        """The tokens now; less than zero is a debt. `rate` is the current quota."""
        added = rate * (now_ms - self._updated_ms) / 1_000
        self._tokens = min(rate * self._windows.seconds, self._tokens + added)
        self._updated_ms = now_ms
        return self._tokens

    def take(self, count: float, rate: float, now_ms: int) -> None:
        self.tokens(rate, now_ms)
        self._tokens -= count
