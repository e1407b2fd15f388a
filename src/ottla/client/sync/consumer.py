"""The consumer for programs without an event loop.

Heartbeats and fetching go on in the loop's thread between the calls. Callbacks run in the thread
that polls, so they may call the consumer's methods.
"""

from __future__ import annotations

import asyncio
import queue
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeVar, Unpack

from ottla.client.cluster import ClientSeams
from ottla.client.consuming.consumer import Consumer as AsyncConsumer
from ottla.client.consuming.offset_lookup import OffsetAndTimestamp
from ottla.client.consuming.properties import ConsumerProperties
from ottla.client.errors import IllegalStateError
from ottla.client.groups.group_subscription import TopicPattern
from ottla.client.records import ConsumedRecord, ConsumerGroupMetadata, OffsetAndMetadata
from ottla.client.sync.loop_thread import LoopThread
from ottla.model import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa

_T = TypeVar("_T")
_Callback: TypeAlias = Callable[[frozenset[TopicPartition]], object]


class _Call(NamedTuple):
    """A callback that the polling thread has to run."""

    callback: _Callback
    partitions: frozenset[TopicPartition]
    done: asyncio.Future[None]


class Consumer:
    """`ottla.client.Consumer` with methods that wait, for use in one thread at a time.

    with Consumer(bootstrap_servers="127.0.0.1:9092", group_id="billing") as consumer:
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
        **keywords: Unpack[ConsumerProperties],
    ) -> None:
        """Raises ConfigError."""
        self._thread = thread = LoopThread.shared()
        self._consumer = thread.call(lambda: AsyncConsumer(properties, seams=seams, **keywords))
        # Callbacks for the call that is waiting; None ends the waiting.
        self._calls: queue.SimpleQueue[_Call | None] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self) -> None:
        self._thread.run(self._consumer.start)

    def close(self, timeout: float = 30.0) -> None:
        self._wait(lambda: self._consumer.close(timeout))

    # ---- what to read

    def subscribe(
        self,
        topics: Iterable[str] | str | re.Pattern[str] = (),
        *,
        pattern: str | TopicPattern | None = None,
        on_assigned: _Callback | None = None,
        on_revoked: _Callback | None = None,
        on_lost: _Callback | None = None,
    ) -> None:
        self._wait(
            lambda: self._consumer.subscribe(
                topics,
                pattern=pattern,
                on_assigned=self._in_polling_thread(on_assigned),
                on_revoked=self._in_polling_thread(on_revoked),
                on_lost=self._in_polling_thread(on_lost),
            )
        )

    def unsubscribe(self) -> None:
        self._wait(self._consumer.unsubscribe)

    def assign(self, partitions: Iterable[TopicPartition | tuple[str, int]]) -> None:
        self._thread.call(lambda: self._consumer.assign(partitions))

    def assignment(self) -> frozenset[TopicPartition]:
        return self._thread.call(self._consumer.assignment)

    def subscription(self) -> frozenset[str]:
        return self._thread.call(self._consumer.subscription)

    # ---- records

    def poll(self, timeout: float = 0.0, max_records: int | None = None) -> list[ConsumedRecord]:
        return self._wait(lambda: self._consumer.poll(timeout, max_records))

    def poll_columns(
        self, timeout: float = 0.0, max_records: int | None = None
    ) -> pa.RecordBatch | None:
        return self._wait(lambda: self._consumer.poll_columns(timeout, max_records))

    def __iter__(self) -> Iterator[ConsumedRecord]:
        """Records one by one, without end. The position is behind the record that was yielded
        last."""
        while (chunk := self._wait(self._consumer.next_chunk)) is not None:
            yield from chunk

    # ---- offsets of the group

    def commit(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        self._wait(lambda: self._consumer.commit(offsets, timeout=timeout))

    def committed(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        return self._wait(lambda: self._consumer.committed(partitions, timeout=timeout))

    def group_metadata(self) -> ConsumerGroupMetadata:
        return self._thread.call(self._consumer.group_metadata)

    # ---- positions

    def position(self, partition: TopicPartition, *, timeout: float | None = None) -> int:
        return self._wait(lambda: self._consumer.position(partition, timeout=timeout))

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        self._thread.call(lambda: self._consumer.seek(partition, offset))

    def seek_to_beginning(self, partitions: Iterable[TopicPartition] = ()) -> None:
        self._thread.call(lambda: self._consumer.seek_to_beginning(partitions))

    def seek_to_end(self, partitions: Iterable[TopicPartition] = ()) -> None:
        self._thread.call(lambda: self._consumer.seek_to_end(partitions))

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        self._thread.call(lambda: self._consumer.pause(partitions))

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self._thread.call(lambda: self._consumer.resume(partitions))

    def paused(self) -> frozenset[TopicPartition]:
        return self._thread.call(self._consumer.paused)

    def lag(self, partition: TopicPartition) -> int | None:
        return self._thread.call(lambda: self._consumer.lag(partition))

    def metrics(self) -> dict[str, float]:
        return self._thread.call(self._consumer.metrics)

    # ---- topics

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        return self._wait(lambda: self._consumer.beginning_offsets(partitions, timeout=timeout))

    def end_offsets(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        return self._wait(lambda: self._consumer.end_offsets(partitions, timeout=timeout))

    def offsets_for_times(
        self, times: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        return self._wait(lambda: self._consumer.offsets_for_times(times, timeout=timeout))

    def partitions_for(
        self, topic: str, *, timeout: float | None = None
    ) -> tuple[TopicPartition, ...]:
        return self._wait(lambda: self._consumer.partitions_for(topic, timeout=timeout))

    def topics(self, *, timeout: float | None = None) -> frozenset[str]:
        return self._wait(lambda: self._consumer.topics(timeout=timeout))

    # ----

    def _wait(self, function: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Runs a coroutine on the loop, and meanwhile the callbacks that it needs in this thread.
        An interrupt (Ctrl+C) cancels it."""
        calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        outer, self._calls = self._calls, calls
        future = self._thread.start(function)
        future.add_done_callback(lambda _: calls.put(None))
        try:
            while (call := calls.get()) is not None:
                self._run_callback(call)
            return future.result()
        except BaseException:
            future.cancel()
            raise
        finally:
            self._calls = outer

    def _run_callback(self, call: _Call) -> None:
        loop, done = self._thread.loop, call.done
        try:
            call.callback(call.partitions)
        except Exception as error:
            loop.call_soon_threadsafe(_fail, done, error)
        else:
            loop.call_soon_threadsafe(_finish, done)

    def _in_polling_thread(
        self, callback: _Callback | None
    ) -> Callable[[frozenset[TopicPartition]], Coroutine[Any, Any, None]] | None:
        if callback is None:
            return None

        async def called(partitions: frozenset[TopicPartition]) -> None:
            if self._calls is None:
                raise IllegalStateError("the consumer is not being polled")
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._calls.put(_Call(callback, partitions, done))
            await done

        return called


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def _fail(done: asyncio.Future[None], error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
