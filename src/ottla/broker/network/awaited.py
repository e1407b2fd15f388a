"""The requests of a connection whose responses are not sent yet, in the order of the requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ottla.broker.network.pending import Pending
from ottla.broker.network.request_metrics import ApiMetrics, Timing
from ottla.broker.network.throttling import Charge
from ottla.wire.schema import Message

# More Produce requests than any client has in flight.
_PENDING_MAX: Final = 64


class Awaited(NamedTuple):
    """A request that waits for its response."""

    pending: Pending
    version: int
    correlation_id: int
    lets_others_pass: bool
    # None if requests are not measured.
    metrics: ApiMetrics | None
    # None if this one is not timed.
    timing: Timing | None
    charge: Charge | None


class AwaitedResponses:
    """Belongs to one connection. Empty most of the time."""

    __slots__ = ("queue",)

    def __init__(self) -> None:
        # Tested directly for each request, and only changed here.
        self.queue: deque[Awaited] = deque()

    @property
    def lets_others_pass(self) -> bool:
        """Whether the next request may be handled meanwhile. Not called when empty."""
        return self.queue[-1].lets_others_pass and len(self.queue) < _PENDING_MAX

    @property
    def apis(self) -> list[str]:
        """The APIs of the requests. None if requests are not measured."""
        return [each.metrics.name for each in self.queue if each.metrics is not None]

    def add(self, awaited: Awaited, on_resolved: Callable[[], None]) -> None:
        self.queue.append(awaited)
        awaited.pending.when_resolved(on_resolved)

    def take_resolved(self) -> Iterator[tuple[Awaited, Message]]:
        """Removes the requests whose responses can be sent: up to the first that is pending."""
        queue = self.queue
        while queue and (response := queue[0].pending.response) is not None:
            yield queue.popleft(), response

    def abandon(self) -> None:
        for awaited in self.queue:
            awaited.pending.abandon()
        self.queue.clear()
