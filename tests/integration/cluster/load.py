"""Real clients that write to a cluster and read from it while its nodes come and go."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from tests.support.nodes.cluster_processes import wait_until
from tests.support.nodes.numbered_producer import NumberedProducer

_READ_SECONDS_MAX = 60.0
# How long a client waits for a node that does not answer and is not gone either.
_CONFIGS = {"socket.timeout.ms": 3_000, "request.timeout.ms": 2_000}


class TimedProducer(NumberedProducer):
    """Numbers what it writes, and knows when each partition's acknowledgements came."""

    def __init__(
        self,
        client: Mapping[str, Any],
        topic: str,
        partitions: int,
        *,
        value_bytes: int = 0,
        predecessor: NumberedProducer | None = None,
    ) -> None:
        """`client` has the configs with which to connect."""
        super().__init__(
            {**_CONFIGS, **client},
            topic,
            partitions,
            value_bytes=value_bytes,
            predecessor=predecessor,
        )
        self._times: list[list[float]] = [[] for _ in range(partitions)]

    @property
    def gap_seconds_max(self) -> float:
        """The longest time in which a partition acknowledged nothing."""
        return max(later - earlier for times in self._times for earlier, later in pairwise(times))

    @property
    def summary(self) -> str:
        """For people."""
        return (
            f"{self.acknowledged_count} records, longest gap {self.gap_seconds_max:.2f} s "
            f"(load {os.getloadavg()[0]:.1f})"
        )

    def wait_acknowledged(self, *, more: int = 1) -> None:
        """Returns when so many more were acknowledged in each partition."""
        goals = [len(times) + more for times in self._times]
        wait_until(
            lambda: all(len(times) >= goal for times, goal in zip(self._times, goals, strict=True)),
            "writes to every partition are acknowledged",
        )

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        super()._delivered(error, message)
        partition = message.partition()
        if error is None and partition is not None:
            self._times[partition].append(time.perf_counter())


class Reader:
    """Reads every partition from its beginning during its `with`, in a thread of its own. What was
    read once must never be read otherwise: offsets follow each other, whoever leads."""

    def __init__(self, client: Mapping[str, Any], topic: str, partitions: int) -> None:
        # By partition, the value at each offset.
        self.values: list[list[int]] = [[] for _ in range(partitions)]
        self._consumer = Consumer(
            {
                **client,
                "group.id": "reader",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "check.crcs": True,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 100,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
        self._error: str | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self._consumer.close()

    def wait_read(self, count: int) -> None:
        """Returns when so many records of each partition were read."""
        wait_until(
            lambda: self._error is not None or all(len(each) >= count for each in self.values),
            f"{count} records of each partition are read",
            seconds_max=_READ_SECONDS_MAX,
        )
        assert self._error is None, self._error

    def _run(self) -> None:
        while not self._stopping.is_set() and self._error is None:
            for message in self._consumer.consume(1_000, 0.05):
                self._take(message)

    def _take(self, message: Message) -> None:
        error, index, value = message.error(), message.partition(), message.value()
        if error is not None:
            # Of brokers that are gone it tells too, and goes on.
            if error.fatal() or error.code() == KafkaError._AUTO_OFFSET_RESET:
                self._error = str(error)
            return
        assert index is not None
        assert value is not None
        if message.offset() == len(self.values[index]):
            self.values[index].append(int(value))
        else:
            expected = len(self.values[index])
            self._error = f"partition {index}: offset {message.offset()} instead of {expected}"


def refused_write(client: Mapping[str, Any], topic: str) -> int:
    """The code of the error that a write without retries is answered with."""
    errors: list[KafkaError | None] = []
    producer = Producer(
        {
            **client,
            "acks": "all",
            "retries": 0,
            "message.timeout.ms": 20_000,
            "log_level": 0,
        }
    )
    producer.produce(
        topic,
        b"refused",
        partition=0,
        on_delivery=lambda error, _message: errors.append(error),
    )
    assert producer.flush(_READ_SECONDS_MAX) == 0
    (error,) = errors
    assert error is not None, "it was acknowledged"
    return error.code()
