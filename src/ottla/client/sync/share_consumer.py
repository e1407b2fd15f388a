"""The share consumer for programs without an event loop.

Heartbeats go on in the loop's thread between the calls. The callback about acknowledgements runs in
the thread that calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar, Unpack

from ottla.client.administration.results import Results
from ottla.client.cluster import ClientSeams
from ottla.client.sharing.properties import ShareConsumerProperties
from ottla.client.sharing.records import AcknowledgementOutcome, SharedRecord
from ottla.client.sharing.share_consumer import ShareConsumer as AsyncShareConsumer
from ottla.client.sync.loop_thread import LoopThread
from ottla.model import TopicPartition

_T = TypeVar("_T")
_Callback: TypeAlias = Callable[[AcknowledgementOutcome], object]


class ShareConsumer:
    """`ottla.client.ShareConsumer` with methods that wait, for use in one thread at a time.

    with ShareConsumer(bootstrap_servers="127.0.0.1:9092", group_id="billing") as consumer:
        consumer.subscribe(["orders"])
        for record in consumer:
            print(record.value)
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        /,
        *,
        seams: ClientSeams | None = None,
        **keywords: Unpack[ShareConsumerProperties],
    ) -> None:
        """Raises ConfigError."""
        self._thread = thread = LoopThread.shared()
        self._consumer = thread.call(
            lambda: AsyncShareConsumer(properties, seams=seams, **keywords)
        )
        self._callback: _Callback | None = None
        self._outcomes: deque[AcknowledgementOutcome] = deque()
        # Acknowledgements since the last call that waits, which is when they can be sent.
        self._given: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._wait(lambda: self._consumer.__aexit__(kind, error, traceback))

    def start(self) -> None:
        self._wait(self._consumer.start)

    def close(self, timeout: float = 30.0) -> None:
        self._wait(lambda: self._consumer.close(timeout))

    # ---- what to read

    def subscribe(
        self, topics: Iterable[str] | str, *, on_acknowledged: _Callback | None = None
    ) -> None:
        self._callback = on_acknowledged
        noted = None if on_acknowledged is None else self._outcomes.append
        self._wait(lambda: self._consumer.subscribe(topics, on_acknowledged=noted))

    def unsubscribe(self) -> None:
        self._wait(self._consumer.unsubscribe)

    def subscription(self) -> frozenset[str]:
        return self._thread.call(self._consumer.subscription)

    def assignment(self) -> frozenset[TopicPartition]:
        return self._thread.call(self._consumer.assignment)

    # ---- records

    def poll(self, timeout: float = 0.0, max_records: int | None = None) -> list[SharedRecord]:
        return self._wait(lambda: self._consumer.poll(timeout, max_records))

    def __iter__(self) -> Iterator[SharedRecord]:
        """Records one by one, without end."""
        while (chunk := self._wait(self._consumer.next_chunk)) is not None:
            yield from chunk

    @property
    def lock_seconds(self) -> float | None:
        return self._consumer.lock_seconds

    # ---- acknowledgements

    def accept(self, records: SharedRecord | Iterable[SharedRecord]) -> None:
        listed = _listed(records)
        self._given.append(lambda: self._consumer.accept(listed))

    def release(
        self,
        records: SharedRecord | Iterable[SharedRecord],
        *,
        delay: float | None = None,
        backoff: float = 1.0,
    ) -> None:
        """The next blocking call raises UnsupportedVersionError if brokers cannot delay records."""
        listed = _listed(records)
        self._given.append(lambda: self._consumer.release(listed, delay=delay, backoff=backoff))

    def reject(self, records: SharedRecord | Iterable[SharedRecord]) -> None:
        listed = _listed(records)
        self._given.append(lambda: self._consumer.reject(listed))

    def renew(self, records: SharedRecord | Iterable[SharedRecord]) -> None:
        listed = _listed(records)
        self._given.append(lambda: self._consumer.renew(listed))

    def commit(self, *, timeout: float | None = None) -> Results[TopicPartition, int]:
        return self._wait(lambda: self._consumer.commit(timeout=timeout))

    def commit_nowait(self) -> None:
        async def begun() -> None:
            self._consumer.commit_nowait()

        self._wait(begun)

    def metrics(self) -> dict[str, float]:
        return self._thread.call(self._consumer.metrics)

    # ----

    def _wait(self, function: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Runs a coroutine on the loop, and then the callbacks in this thread."""
        given, self._given = self._given, []

        async def run() -> _T:
            for acknowledge in given:
                acknowledge()
            return await function()

        result = self._thread.run(run)
        while self._outcomes:
            outcome = self._outcomes.popleft()
            if self._callback is not None:
                self._callback(outcome)
        return result


def _listed(records: SharedRecord | Iterable[SharedRecord]) -> list[SharedRecord]:
    return [records] if isinstance(records, SharedRecord) else list(records)
