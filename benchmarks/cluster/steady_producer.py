"""A producer that sends a record each millisecond and notes when each was acknowledged.

librdkafka at its defaults, but for acks=all and idempotence: what an application that must not lose
anything gets to see of a fault.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import count, pairwise
from types import TracebackType
from typing import NamedTuple, Self

from confluent_kafka import KafkaError, Message, Producer

INTERVAL_S = 0.001
RECORD = bytes(100)
FLUSH_TIMEOUT_S = 120.0


class Acknowledgement(NamedTuple):
    sent_s: float
    acknowledged_s: float


class SteadyProducer:
    """Sends to the partitions of a topic in turn, from a thread of its own, within its `with`.

    Leaving it waits until all that was sent is acknowledged, and raises where anything was not.
    """

    def __init__(self, bootstrap: str, topic: str, *, partitions: int) -> None:
        settings = {"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True}
        self._producer = Producer(settings)
        self._topic = topic
        # By partition, in the order in which they came.
        self._acknowledged: list[list[Acknowledgement]] = [[] for _ in range(partitions)]
        self._refused: list[KafkaError] = []
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._send_steadily, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_ending.set()
        self._thread.join()
        if kind is not None:
            return
        left = self._producer.flush(FLUSH_TIMEOUT_S)
        # It would go on to ask for its topic, and bring it back when it is deleted.
        del self._producer
        if left or self._refused:
            raise RuntimeError(f"{left} records were not acknowledged; refused: {self._refused}")

    def behind_s(self) -> float:
        """How long ago the latest acknowledged record was sent, in the partition that is worst."""
        now_s = time.perf_counter()
        latest = (of_partition[-1:] for of_partition in self._acknowledged)
        return max(now_s - some[0].sent_s if some else float("inf") for some in latest)

    def longest_gap_s(self, *, since_s: float) -> float:
        """Between two acknowledgements of the same partition, until now."""
        now_s = time.perf_counter()
        return max(
            longest_gap_s(
                [each.acknowledged_s for each in of_partition], since_s=since_s, now_s=now_s
            )
            for of_partition in self._acknowledged
        )

    def without_acknowledgement_s(self, *, since_s: float, gap_s_min: float) -> float:
        """The time in which a partition had a gap of at least this length. Times that several
        partitions have in common count once."""
        return covered_s(
            (max(former_s, since_s), later_s)
            for of_partition in self._acknowledged
            for former_s, later_s in pairwise(each.acknowledged_s for each in of_partition)
            if later_s > since_s and later_s - former_s >= gap_s_min
        )

    def _send_steadily(self) -> None:
        started_s = time.perf_counter()
        for number in count():
            due_s = started_s + number * INTERVAL_S
            # At least once per record, even when it is late.
            self._producer.poll(max(0.0, due_s - time.perf_counter()))
            while (left_s := due_s - time.perf_counter()) > 0:
                self._producer.poll(left_s)
            if self._is_ending.is_set():
                return
            self._send(number % len(self._acknowledged))

    def _send(self, to_partition: int) -> None:
        """A fault that lasts fills the client's queue: what is due then waits, as it would have to
        in any application."""
        on_delivery = partial(self._note, time.perf_counter())
        while not self._is_ending.is_set():
            with contextlib.suppress(BufferError):
                self._producer.produce(
                    self._topic, RECORD, partition=to_partition, on_delivery=on_delivery
                )
                return
            self._producer.poll(INTERVAL_S)

    def _note(self, sent_s: float, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._refused.append(error)
            return
        partition = message.partition()
        assert partition is not None
        self._acknowledged[partition].append(Acknowledgement(sent_s, time.perf_counter()))


def longest_gap_s(acknowledged_s: Sequence[float], *, since_s: float, now_s: float) -> float:
    """The longest that ended since then. That which lasts ends now."""
    return max(
        later_s - former_s
        for former_s, later_s in pairwise([*acknowledged_s, now_s])
        if later_s > since_s
    )


def covered_s(intervals: Iterable[tuple[float, float]]) -> float:
    """How long at least one of the intervals lasts."""
    total_s, covered_until_s = 0.0, float("-inf")
    for begin_s, end_s in sorted(intervals):
        total_s += max(0.0, end_s - max(begin_s, covered_until_s))
        covered_until_s = max(covered_until_s, end_s)
    return total_s
