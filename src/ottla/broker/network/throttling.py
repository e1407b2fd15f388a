"""Throttles the client of one connection: records what its requests use, sets `throttle_time_ms` in
the responses, and mutes the connection for that time (KIP-219).

As in Kafka, the response is sent at once, and the client's next request is handled when the time is
over. Requests of other nodes, and Fetch requests of followers, are exempt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ottla.broker.network.handling import Answer, HandledApi, RequestContext
from ottla.broker.network.pending import Pending
from ottla.broker.network.timed_steps import TimedSteps
from ottla.broker.quotas.client_quotas import ClientQuotas
from ottla.quotas.entities import QuotaKey
from ottla.runtime.clock import Clock, Timer
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.wire.apis import ApiKey
from ottla.wire.messages.fetch import FetchRequest
from ottla.wire.schema import Message

# The requests of nodes, which need CLUSTER_ACTION.
_OF_NODES: Final = frozenset(
    {
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.VOTE,
        ApiKey.BEGIN_QUORUM_EPOCH,
        ApiKey.END_QUORUM_EPOCH,
        ApiKey.FETCH_SNAPSHOT,
        ApiKey.UPDATE_RAFT_VOTER,
        ApiKey.ALTER_PARTITION,
        ApiKey.ENVELOPE,
        ApiKey.BROKER_REGISTRATION,
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.CONTROLLER_REGISTRATION,
        ApiKey.ALLOCATE_PRODUCER_IDS,
        ApiKey.ASSIGN_REPLICAS_TO_DIRS,
        ApiKey.INITIALIZE_SHARE_GROUP_STATE,
        ApiKey.READ_SHARE_GROUP_STATE,
        ApiKey.WRITE_SHARE_GROUP_STATE,
        ApiKey.DELETE_SHARE_GROUP_STATE,
        ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
    }
)
# The controller throttles these (controller/mutation_quotas.py).
_CHANGES_OF_TOPICS: Final = frozenset(
    {ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.CREATE_PARTITIONS}
)
_PERCENT: Final = 100


class Charge:
    """What a request used before its response was ready."""

    __slots__ = ("_monotonic", "_timed", "_until_returned", "api", "context", "size")

    def __init__(
        self,
        api: HandledApi,
        context: RequestContext,
        size: int,
        started: float,
        monotonic: Callable[[], float],
    ) -> None:
        """Created when the handler returns."""
        self.api = api
        self.context = context
        self.size = size
        self._until_returned = monotonic() - started
        self._monotonic = monotonic
        self._timed: TimedSteps[Message] | None = None

    def timed(self, answer: Answer) -> Answer:
        """What the handler returned; in place of a coroutine one whose steps are measured."""
        if answer is None or isinstance(answer, Message | Pending):
            return answer
        self._timed = TimedSteps(answer, self._monotonic)
        return self._timed

    @property
    def seconds(self) -> float:
        return self._until_returned + (0.0 if self._timed is None else self._timed.seconds)


class Throttling:
    """Belongs to one connection. `on_unmuted` is called when a throttle time is over."""

    __slots__ = (
        "_clock",
        "_is_measured",
        "_on_unmuted",
        "_quotas",
        "_timer",
        "_until",
        "is_muted",
    )

    def __init__(
        self,
        quotas: ClientQuotas,
        clock: Clock,
        on_unmuted: Callable[[], None],
        *,
        is_measured: bool,
    ) -> None:
        self._quotas = quotas
        self._clock = clock
        self._on_unmuted = on_unmuted
        self._is_measured = is_measured
        self._until = 0.0
        self._timer: Timer | None = None
        self.is_muted = False

    def charge_of(
        self, api: HandledApi, context: RequestContext, request: Message, size: int, started: float
    ) -> Charge | None:
        """What a request has used when its handler returns; None if nothing limits it."""
        sender = context.quotas
        if sender is None or not (sender.is_limited or api.key in _CHANGES_OF_TOPICS):
            return None
        if _is_exempt(api.key, context, request):
            return None
        return Charge(api, context, size, started, self._clock.monotonic)

    def apply(self, charge: Charge, response: Message | None) -> None:
        """Records the charge and mutes the connection if it has to wait. `response` is None for a
        Produce request that gets none, which is charged for its bytes only."""
        sender = charge.context.quotas
        if sender is None:
            return
        answer: Any = response
        throttle_ms = getattr(answer, "throttle_time_ms", 0)
        if charge.api.key is ApiKey.PRODUCE:
            throttle_ms = sender.record(QuotaKey.PRODUCE, charge.size)
        if response is not None:
            used = charge.seconds * _PERCENT
            throttle_ms = max(throttle_ms, sender.record(QuotaKey.REQUEST, used))
        if not throttle_ms:
            return
        if hasattr(answer, "throttle_time_ms"):
            answer.throttle_time_ms = throttle_ms
        if self._is_measured:
            charge.api.metrics.throttle.record(throttle_ms / 1_000)
        self.mute(throttle_ms / 1_000)

    def mute(self, seconds: float) -> None:
        """Handles no request for that time. A later end of an earlier call stays."""
        until = self._clock.monotonic() + seconds
        if until <= self._until:
            return
        self._until = until
        self.end()
        self.is_muted = True
        self._timer = self._clock.call_later(seconds, self._unmute)

    def close_after(self, seconds: float, close: Callable[[], None]) -> None:
        """Closes the connection then, and handles no request before: a client that is refused at
        once would try again at once."""
        if not seconds:
            close()
            return
        self.mute(seconds)
        self._clock.call_later(seconds, close)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _unmute(self) -> None:
        self._timer = None
        self.is_muted = False
        self._on_unmuted()


def _is_exempt(key: ApiKey, context: RequestContext, request: Message) -> bool:
    if isinstance(request, FetchRequest):
        if request.replica_id < 0 and request.replica_state is None:
            return False
    elif key not in _OF_NODES:
        return False
    return context.rights.allows_quietly(
        AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
    )
