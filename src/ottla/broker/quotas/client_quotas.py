"""The byte rates and request times of the clients of this node, and their quotas.

As in Kafka, each node enforces quotas for itself. The controller enforces the quota for changes of
topics (controller/mutation_quotas.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.metadata import MetadataDelta
from ottla.quotas.entities import CLIENT_ID, CLIENT_KEYS, USER, QuotaKey
from ottla.quotas.meters import Admission, BucketMeter, Meters, RateMeter
from ottla.quotas.sampled_rate import Windows
from ottla.quotas.usage import QuotaUsage
from ottla.runtime.clock import Clock

_ADMITTED: Final = Admission(True, 0)


class ClientQuotas:
    """Follows the metadata. Owned by the node's loop."""

    def __init__(
        self, cluster: ClusterView, clock: Clock, of_mutations: Meters[BucketMeter]
    ) -> None:
        """`of_mutations` are those of this node's controller."""
        config = cluster.config
        self.windows = windows = Windows(
            count=config.quota_window_num, size_seconds=config.quota_window_size_seconds
        )
        # Changes when the meters of a client may have changed.
        self.version = 0
        self.meters: dict[QuotaKey, Meters[RateMeter]] = {
            key: Meters(key, lambda: RateMeter(windows), self._meters_changed)
            for key in (QuotaKey.PRODUCE, QuotaKey.FETCH)
        }
        # As in Kafka, a request's time throttles a client for a window at most.
        self.meters[QuotaKey.REQUEST] = Meters(
            QuotaKey.REQUEST,
            lambda: RateMeter(windows, longest_ms=windows.size_ms),
            self._meters_changed,
        )
        # Whether any client has a quota. Without one, a request costs nothing more.
        self.is_enabled = False
        self._of_mutations = of_mutations
        self._cluster = cluster
        self._clock = clock
        self._follow()
        cluster.metadata.listen(self._metadata_changed)

    def sender(self, user: str, client_id: str) -> SenderQuotas:
        return SenderQuotas(self, user, client_id)

    def now_ms(self) -> int:
        return int(self._clock.monotonic() * 1_000)

    def usage(self) -> Iterator[QuotaUsage]:
        """What clients with a quota use now."""
        now_ms = self.now_ms()
        everything: list[Meters[Any]] = [*self.meters.values(), self._of_mutations]
        for meters in everything:
            for (user, client_id), meter in meters.items():
                used = meter.usage(now_ms)
                yield QuotaUsage(meters.key, user, client_id, used, meter.limit, meter.throttled_ms)

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        if delta.client_quotas_changed:
            self._follow()

    def _meters_changed(self) -> None:
        self.version += 1

    def _follow(self) -> None:
        quotas = self._cluster.image.client_quotas
        for meters in self.meters.values():
            meters.follow(quotas)
        self.is_enabled = any(
            kind in (USER, CLIENT_ID) and not limits.keys().isdisjoint(CLIENT_KEYS)
            for entity, limits in quotas.items()
            for kind, _ in entity
        )


class SenderQuotas:
    """The quotas of one user with one client id. Belongs to a connection."""

    __slots__ = ("_client_id", "_is_limited", "_meters", "_quotas", "_user", "_version")

    def __init__(self, quotas: ClientQuotas, user: str, client_id: str) -> None:
        self._quotas = quotas
        self._user = user
        self._client_id = client_id
        self._version = -1
        self._meters: dict[QuotaKey, RateMeter | None] = {}
        self._is_limited = False

    @property
    def is_enabled(self) -> bool:
        return self._quotas.is_enabled

    @property
    def is_limited(self) -> bool:
        """Whether the sender has any quota here."""
        if self._quotas.version != self._version:
            self._refresh()
        return self._is_limited

    def meter(self, key: QuotaKey) -> RateMeter | None:
        """The sender's meter; None if it has no quota for this key."""
        if self._quotas.version != self._version:
            self._refresh()
        return self._meters[key]

    def _refresh(self) -> None:
        now_ms = self._quotas.now_ms()
        self._meters = {
            each: meters.find(self._user, self._client_id, now_ms)
            for each, meters in self._quotas.meters.items()
        }
        self._is_limited = any(each is not None for each in self._meters.values())
        # Last: a new meter may have changed it.
        self._version = self._quotas.version

    def record(self, key: QuotaKey, value: float) -> int:
        """Records what a request used. Returns the time by which to throttle the sender."""
        meter = self.meter(key)
        return 0 if meter is None else meter.record(value, self._quotas.now_ms())

    def admit_fetch(self, size: int) -> Admission:
        """Records the size of a Fetch response. One that is not admitted must be empty."""
        meter = self.meter(QuotaKey.FETCH)
        return _ADMITTED if meter is None else meter.admit(size, self._quotas.now_ms())

    @property
    def fetch_bytes_max(self) -> float:
        """What a Fetch may return without exceeding the quota, if the sender fetched nothing
        before."""
        meter = self.meter(QuotaKey.FETCH)
        if meter is None:
            return inf
        windows = self._quotas.windows
        return meter.limit * (windows.count - 1) * windows.size_ms / 1_000
