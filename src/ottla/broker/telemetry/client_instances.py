"""The clients that push metrics to this node, and what is requested of each.

    GetTelemetrySubscriptions ──▶ subscribed ──PushTelemetry──▶ pushed ──terminating──▶ terminated
                                     ▲                            │
                                     └──── interval is over ──────┘

A client waits for its push interval between two requests; a push may follow a subscription at once.
When subscriptions change, the instance begins anew: its subscription id changes, and its next push
is refused, so that it requests the new subscription. Times are monotonic seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from crc32c import crc32c

from ottla.configs.client_metrics import (
    ALL_METRICS,
    PUSH_INTERVAL_MS_DEFAULT,
    ClientMetricsSubscription,
)
from ottla.model import ErrorCode, Uuid, uuid_to_text

# As many clients as a node of Kafka remembers; then the longest unused one is forgotten.
_INSTANCES_MAX: Final = 16_384
_EXPIRY_SECONDS_MIN: Final = 60.0
_INTERVALS_TO_EXPIRY: Final = 3
_SIGN_BIT: Final = 1 << 31


class ClientIdentity(NamedTuple):
    """What is known of a client. The names are those of the parameters that `match` knows."""

    client_instance_id: str
    client_id: str
    client_software_name: str
    client_software_version: str
    client_source_address: str
    client_source_port: str


class ClientInstance:
    """One client instance as of one version of the subscriptions."""

    def __init__(
        self, id_: Uuid, client: ClientIdentity, subscriptions: Iterable[ClientMetricsSubscription]
    ) -> None:
        self.client = client
        attributes = {name: value for name, value in client._asdict().items() if value}
        matching = [each for each in subscriptions if each.matches(attributes)]
        metrics = {name for each in matching for name in each.metrics}
        self.metrics = [ALL_METRICS] if ALL_METRICS in metrics else sorted(metrics)
        self.push_interval_ms = min(
            (each.push_interval_ms for each in matching), default=PUSH_INTERVAL_MS_DEFAULT
        )
        self.subscription_id = _subscription_id(id_, self.metrics, self.push_interval_ms)
        self.has_terminated = False
        self.last_error = ErrorCode.NONE
        self.last_used = 0.0
        self._got_at: float | None = None
        self._pushed_at: float | None = None

    @property
    def expiry_seconds(self) -> float:
        return max(_EXPIRY_SECONDS_MIN, _INTERVALS_TO_EXPIRY * self.push_interval_ms / 1_000)

    def get(self, now: float) -> ErrorCode:
        """The client requests its subscription."""
        times = [each for each in (self._got_at, self._pushed_at) if each is not None]
        is_early = bool(times) and not self._is_interval_over(max(times), now)
        # After these errors the client requests its subscription again at once.
        if is_early and self.last_error not in (
            ErrorCode.UNKNOWN_SUBSCRIPTION_ID,
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ):
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED
        self._got_at = now
        self.last_error = ErrorCode.NONE
        return ErrorCode.NONE

    def push(self, now: float, *, subscription_id: int, is_terminating: bool) -> ErrorCode:
        """The client pushes metrics. The caller looks at them if there is no error."""
        if self.has_terminated:
            return ErrorCode.INVALID_REQUEST
        self.has_terminated = is_terminating
        got_at, pushed_at = self._got_at, self._pushed_at
        is_first = got_at is not None and (pushed_at is None or got_at > pushed_at)
        if is_first or pushed_at is None or self._is_interval_over(pushed_at, now):
            self._pushed_at = now
        elif not is_terminating:
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED
        if subscription_id != self.subscription_id:
            return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        return ErrorCode.NONE

    def _is_interval_over(self, since: float, now: float) -> bool:
        return now - since >= self.push_interval_ms / 1_000


class ClientInstances:
    """Of one node, by client instance id."""

    def __init__(self) -> None:
        self.subscriptions: Collection[ClientMetricsSubscription] = ()
        self._by_id: OrderedDict[Uuid, ClientInstance] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id_: Uuid) -> bool:
        return id_ in self._by_id

    def change_subscriptions(self, subscriptions: Collection[ClientMetricsSubscription]) -> None:
        """Every client gets its new subscription with its next request."""
        self.subscriptions = subscriptions
        self._by_id.clear()

    def of(self, id_: Uuid, client: ClientIdentity, now: float) -> ClientInstance:
        """The instance, which is made if it is not known."""
        found = self._by_id.get(id_)
        if found is None:
            found = self._by_id[id_] = ClientInstance(id_, client, self.subscriptions)
            if len(self._by_id) > _INSTANCES_MAX:
                self._by_id.popitem(last=False)
        self._by_id.move_to_end(id_)
        found.last_used = now
        return found

    def remove(self, id_: Uuid) -> None:
        """Its connection has closed."""
        self._by_id.pop(id_, None)

    def expire(self, now: float) -> None:
        for id_, instance in list(self._by_id.items()):
            if now - instance.last_used > instance.expiry_seconds:
                del self._by_id[id_]


def _subscription_id(id_: Uuid, metrics: list[str], push_interval_ms: int) -> int:
    """The same for the same subscription at every broker, and different for another one."""
    text = f"{uuid_to_text(id_)} {','.join(metrics)} {push_interval_ms}"
    unsigned = crc32c(text.encode())
    return unsigned - (unsigned & _SIGN_BIT) * 2
