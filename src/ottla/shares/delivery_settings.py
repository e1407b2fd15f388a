"""How a share group delivers records: its configs, as the state machine uses them."""

from __future__ import annotations

from typing import Final, NamedTuple

# A group with a limit of 2 cannot deliver less than a whole batch before the last attempt.
_THROTTLED_FROM: Final = 2


class DeliverySettings(NamedTuple):
    lock_ms: int = 30_000
    delivery_limit: int = 5
    # The most records that are in flight at a time: from the start offset to the end.
    locks_max: int = 2_000
    may_renew: bool = True
    # How long a released record waits until it is delivered again. The delay is multiplied with
    # `retry_backoff` for each further delivery, up to `retry_delay_max_ms`.
    retry_delay_ms: int = 0
    retry_backoff: float = 1.0
    retry_delay_max_ms: int = 0
    # Records with one key are delivered to one member at a time, in their order.
    orders_keys: bool = False
    # No member locks more than its part of `locks_max`.
    is_fair: bool = False

    @property
    def throttled_from(self) -> int:
        """The delivery count from which fewer records are delivered together, so that one bad
        record takes fewer others with it."""
        return max(_THROTTLED_FROM, -(-self.delivery_limit // 2))

    def retry_delay(self, delivery_count: int) -> float:
        """The delay in milliseconds after this delivery."""
        if not self.retry_delay_ms:
            return 0
        # Bounded, so that it cannot overflow.
        steps = min(max(delivery_count - 1, 0), 32)
        return min(self.retry_delay_ms * self.retry_backoff**steps, self.retry_delay_max_ms)
