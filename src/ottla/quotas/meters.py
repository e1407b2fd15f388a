"""The meters of all clients for one quota key. Clients that share a rate share a meter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from ottla.quotas.client_limits import ClientLimits, Metered
from ottla.quotas.entities import QuotaEntity, QuotaKey
from ottla.quotas.sampled_rate import SampledRate, Windows
from ottla.quotas.throttle_time import bucket_throttle_ms, rate_throttle_ms
from ottla.quotas.token_bucket import TokenBucket

# As Kafka's sensors.
_UNUSED_MS_MAX: Final = 3_600_000
# Clients choose their client ids, and with a default quota each new one gets a meter.
_METERS_MAX: Final = 10_000


class Meter(Protocol):
    """Measures one rate against its limit."""

    limit: float
    used_ms: int
    # By which requests were throttled, in all.
    throttled_ms: int

    def usage(self, now_ms: int) -> float:
        """What the limit is compared with: a rate per second."""


class Admission(NamedTuple):
    """Whether a request is carried out, and the time by which to throttle its sender."""

    is_admitted: bool
    throttle_ms: int


class RateMeter:
    """Of bytes or percentages. The limit changes with the quota; the history stays."""

    __slots__ = ("limit", "longest_ms", "rate", "throttled_ms", "used_ms")

    def __init__(self, windows: Windows, *, longest_ms: int | None = None) -> None:
        """`longest_ms` limits throttle times."""
        self.rate = SampledRate(windows)
        self.limit = 0.0
        self.longest_ms = longest_ms
        self.used_ms = self.throttled_ms = 0

    def usage(self, now_ms: int) -> float:
        return self.rate.per_second(now_ms)

    def record(self, value: float, now_ms: int) -> int:
        """Records what a request used. Returns the time by which to throttle it."""
        self.used_ms = now_ms
        self.rate.record(value, now_ms)
        throttle_ms = rate_throttle_ms(self.rate, self.limit, now_ms, longest_ms=self.longest_ms)
        self.throttled_ms += throttle_ms
        return throttle_ms

    def admit(self, value: float, now_ms: int) -> Admission:
        """As `record`, for a request that is not carried out if it exceeds the limit: takes the
        value back then. The first one after a pause of all windows is carried out, whatever its
        value: it could never be otherwise."""
        is_first = not self.rate.per_second(now_ms)
        throttle_ms = self.record(value, now_ms)
        is_admitted = is_first or not throttle_ms
        if not is_admitted:
            self.rate.record(-value, now_ms)
        return Admission(is_admitted, throttle_ms)


class BucketMeter:
    """Of changes of the metadata. `usage` is the average rate, which limits nothing."""

    __slots__ = ("bucket", "limit", "rate", "throttled_ms", "used_ms")

    def __init__(self, windows: Windows) -> None:
        self.bucket = TokenBucket(windows)
        self.rate = SampledRate(windows)
        self.limit = 0.0
        self.used_ms = self.throttled_ms = 0

    def usage(self, now_ms: int) -> float:
        return self.rate.per_second(now_ms)

    def throttle_ms(self, now_ms: int) -> int:
        return bucket_throttle_ms(self.bucket, self.limit, now_ms)

    def record(self, count: float, now_ms: int) -> None:
        self.used_ms = now_ms
        self.rate.record(count, now_ms)
        self.bucket.take(count, self.limit, now_ms)


AnyMeter = TypeVar("AnyMeter", bound=Meter)


class Meters(Generic[AnyMeter]):
    """`on_changed` is called when a meter that was found before may be another one now."""

    def __init__(
        self,
        key: QuotaKey,
        make: Callable[[], AnyMeter],
        on_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.key = key
        self._on_changed = on_changed
        self._make = make
        self._limits = ClientLimits(key, {})
        self._meters: dict[Metered, AnyMeter] = {}

    @property
    def has_limits(self) -> bool:
        return bool(self._limits)

    def follow(self, quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> None:
        """Makes the quotas of an image the current ones. Forgets the meters that no client uses
        any more, and keeps the history of the others."""
        self._limits = ClientLimits(self.key, quotas)
        self._on_changed()
        for metered in list(self._meters):
            found = self._limits.find(*metered)
            if found is None or found.metered != metered:
                del self._meters[metered]

    def find(self, user: str, client_id: str, now_ms: int) -> AnyMeter | None:
        """The meter of a client, with its current limit; None if it has no quota."""
        found = self._limits.find(user, client_id)
        if found is None:
            return None
        meter = self._meters.get(found.metered)
        if meter is None:
            if len(self._meters) >= _METERS_MAX:
                self._forget_unused(now_ms)
            meter = self._meters[found.metered] = self._make()
            meter.used_ms = now_ms
        meter.limit = found.limit
        return meter

    def items(self) -> Iterator[tuple[Metered, AnyMeter]]:
        return iter(list(self._meters.items()))

    def _forget_unused(self, now_ms: int) -> None:
        """Forgets the meters that are unused for an hour, or else the half that is unused for
        longest."""
        self._on_changed()
        by_use = sorted(self._meters.items(), key=lambda item: item[1].used_ms)
        unused = [metered for metered, meter in by_use if now_ms - meter.used_ms >= _UNUSED_MS_MAX]
        for metered in unused or [metered for metered, _ in by_use[: _METERS_MAX // 2]]:
            del self._meters[metered]
