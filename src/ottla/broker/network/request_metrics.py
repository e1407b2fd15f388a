"""What is counted of each request: how many there are, their errors, and where their time goes.

    arrived ──queue──▶ started ──local──▶ handled ──remote──▶ answered ──send──▶ sent

Requests, their bytes and their errors are always counted, each one. Reading the clock and recording
five histograms would cost more than all of that, so only some requests are timed while an API has
many: one of 32 above 1,000 requests per second, which then stands for all since the one before.
Which of the 32 it is varies, because clients repeat what they do.

The usual request, which is handled when it arrives and answered at once, records only what differs
from zero; its zeros in the other phases are added when the metrics are read. A node whose metrics
nothing reads does none of it. `python -m benchmarks counting` measures the cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Final, TypeAlias

from ottla.metrics import Distribution, Histogram, Metrics, Sample
from ottla.metrics.family import SECONDS
from ottla.metrics.table import requests as table
from ottla.model import ErrorCode
from ottla.wire.apis import ApiKey, request_class, response_class
from ottla.wire.messages.fetch import FetchRequest
from ottla.wire.schema import Message
from ottla.wire.schema.error_codes import ErrorCodes, error_codes_of

_OF_CONSUMERS: Final = "FetchConsumer"
_OF_FOLLOWERS: Final = "FetchFollower"
_IDS: Final = {each.value: each.name for each in ErrorCode}
# An API is loaded if it had more requests per second since it was looked at last: after so many
# requests, or so much time.
_LOADED_PER_SECOND: Final = 1_000
_WINDOW_REQUESTS: Final = 256
_WINDOW_SECONDS: Final = 0.1
# Under load, requests from one that is timed to the next. Their mean is 32.
_GAPS: Final = (29, 35, 32, 27, 37)


class ApiMetrics:
    """Of the requests of one API. Hot paths change its attributes directly.

    A request that brings `untimed` to 0 is timed, and stands for `gap` requests."""

    __slots__ = (
        "_gaps",
        "_in_window",
        "_is_loaded",
        "_key",
        "_window_began",
        "bytes",
        "errors",
        "errors_of",
        "gap",
        "local",
        "name",
        "of_followers",
        "phases",
        "queue",
        "remote",
        "requests",
        "send",
        "throttle",
        "total",
        "untimed",
    )

    def __init__(self, key: ApiKey, name: str) -> None:
        self.name = name
        # Fetch requests of followers are counted apart.
        self.of_followers: ApiMetrics | None = None
        # By version.
        self.requests = [0] * (request_class(key).versions.highest + 1)
        self.bytes = 0
        self.errors: dict[int, int] = {}
        self.queue = Histogram(SECONDS)
        self.local = Histogram(SECONDS)
        self.remote = Histogram(SECONDS)
        self.throttle = Histogram(SECONDS)
        self.send = Histogram(SECONDS)
        self.total = Histogram(SECONDS)
        self.phases = {
            "queue": self.queue,
            "local": self.local,
            "remote": self.remote,
            "throttle": self.throttle,
            "send": self.send,
        }
        self.gap = self.untimed = 1
        self._gaps = cycle(_GAPS)
        self._is_loaded = False
        self._window_began = 0.0
        self._in_window = 0
        self._key = key
        self.errors_of: ErrorCodes = self._first_errors_of

    def for_request(self, request: Message) -> ApiMetrics:
        """These metrics, or those of followers if a follower sent the request."""
        assert isinstance(request, FetchRequest)
        assert self.of_followers is not None
        is_of_follower = request.replica_state is not None or request.replica_id >= 0
        return self.of_followers if is_of_follower else self

    def count_errors(self, codes: tuple[int, ...]) -> None:
        for code in codes:
            self.errors[code] = self.errors.get(code, 0) + 1

    def take_gap(self) -> int:
        """The request is timed. Returns for how many requests it stands."""
        gap = self.gap
        self.gap = self.untimed = next(self._gaps) if self._is_loaded else 1
        return gap

    def completed(
        self,
        times: int,
        arrived: float,
        started: float,
        handled: float,
        answered: float,
        sent: float,
    ) -> None:
        """Records the times of a request whose response was written, for `times` requests."""
        if started > arrived:
            self.queue.record(started - arrived, times)
        self.local.record(handled - started, times)
        if answered > handled:
            self.remote.record(answered - handled, times)
        self.send.record(sent - answered, times)
        self.total.record(sent - arrived, times)
        self._in_window += times
        seconds = sent - self._window_began
        if seconds > _WINDOW_SECONDS or self._in_window >= _WINDOW_REQUESTS:
            self._is_loaded = self._in_window > _LOADED_PER_SECOND * seconds
            self._window_began, self._in_window = sent, 0

    def _first_errors_of(self, response: Message) -> tuple[int, ...]:
        """Replaces itself: the function is compiled with the first response."""
        self.errors_of = error_codes_of(response_class(self._key))
        return self.errors_of(response)

    def with_zeros(self, phase: Histogram) -> Distribution:
        """A phase of all requests, with those that spent no time in it."""
        missing = max(sum(self.total.counts) - sum(phase.counts), 0)
        first, *rest = phase.counts
        return Distribution([first + missing, *rest], phase.total)


# The metrics of a request, for how many requests it stands, and when it arrived, started, was
# handled, and was answered.
Timing: TypeAlias = tuple[ApiMetrics, int, float, float, float, float]


class RequestMetrics:
    """Of all APIs of a node. Owned by its loop."""

    def __init__(self, metrics: Metrics) -> None:
        self._apis: dict[str, ApiMetrics] = {}
        for family, source in (
            (table.REQUESTS, self._requests),
            (table.REQUEST_ERRORS, self._errors),
            (table.REQUEST_BYTES, self._bytes),
            (table.REQUEST_SECONDS, self._seconds),
            (table.REQUEST_PHASE_SECONDS, self._phases),
        ):
            metrics.measure(family, source)

    def of(self, key: ApiKey) -> ApiMetrics:
        if key is not ApiKey.FETCH:
            return self._named(key, key.name.title().replace("_", ""))
        of_consumers = self._named(key, _OF_CONSUMERS)
        of_consumers.of_followers = self._named(key, _OF_FOLLOWERS)
        return of_consumers

    def _named(self, key: ApiKey, name: str) -> ApiMetrics:
        found = self._apis.get(name)
        if found is None:
            found = self._apis[name] = ApiMetrics(key, name)
        return found

    def _used(self) -> list[ApiMetrics]:
        """The APIs of which there was a request."""
        return [api for api in self._apis.values() if any(api.requests)]

    def _requests(self) -> Iterator[Sample]:
        for api in self._used():
            for version, count in enumerate(api.requests):
                if count:
                    yield (api.name, str(version)), count

    def _errors(self) -> Iterator[Sample]:
        for api in self._used():
            for code, count in list(api.errors.items()):
                yield (api.name, _IDS.get(code, str(code))), count

    def _bytes(self) -> Iterator[Sample]:
        for api in self._used():
            yield (api.name,), api.bytes

    def _seconds(self) -> Iterator[Sample]:
        for api in self._used():
            yield (api.name,), api.total.value

    def _phases(self) -> Iterator[Sample]:
        for api in self._used():
            for name, phase in api.phases.items():
                yield (api.name, name), api.with_zeros(phase)
