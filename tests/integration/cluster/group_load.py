"""A group of real consumers that commit after every batch while coordinators come and go."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tests.support.nodes.cluster_processes import wait_until

_CONFIGS = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "partition.assignment.strategy": "cooperative-sticky",
    "session.timeout.ms": 20_000,
    "heartbeat.interval.ms": 500,
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 100,
    "log_level": 0,
}
_OF_CLASSIC = ("partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms")


class CommittingConsumer:
    """Consumes and commits during its `with`, in a thread of its own, which alone may ask its
    client: others could wait for it forever."""

    def __init__(self, client: Mapping[str, Any], topic: str, protocol: str) -> None:
        """`client` has the configs with which to connect."""
        configs = {
            name: value
            for name, value in _CONFIGS.items()
            if protocol == "classic" or name not in _OF_CLASSIC
        }
        self._consumer = Consumer(
            {
                **client,
                "group.id": topic,
                "group.protocol": protocol,
                **configs,
            }
        )
        self._consumer.subscribe([topic], on_revoke=self._revoked, on_lost=self._revoked)
        # What was read, by partition and offset, and the last offset of each partition that a
        # commit was acknowledged of, and when that was.
        self.read: dict[tuple[int, int], int] = {}
        self.committed: dict[int, int] = {}
        self.committed_at: list[float] = []
        self.lost: list[int] = []
        self.partitions: set[int] = set()
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

    def wait_commits(self, *, more: int) -> None:
        """Returns when so many more were acknowledged."""
        goal = len(self.committed_at) + more
        wait_until(
            lambda: self._error is not None or len(self.committed_at) >= goal,
            f"{more} more commits are acknowledged",
        )
        assert self._error is None, self._error

    def _revoked(self, _consumer: Consumer, gone: list[TopicPartition]) -> None:
        self.lost += [each.partition for each in gone]

    def _run(self) -> None:
        while not self._stopping.is_set() and self._error is None:
            messages = self._consumer.consume(50, 0.05)
            self.partitions = {each.partition for each in self._consumer.assignment()}
            for message in messages:
                self._take(message)
            if messages:
                self._commit()

    def _take(self, message: Message) -> None:
        partition, offset, value = message.partition(), message.offset(), message.value()
        error = message.error()
        if error is not None:
            # Of brokers that are gone it tells too, and goes on.
            if error.fatal():
                self._error = str(error)
            return
        assert partition is not None
        assert offset is not None
        assert value is not None
        self.read[partition, offset] = int(value)

    def _commit(self) -> None:
        try:
            offsets = self._consumer.commit(asynchronous=False)
        except KafkaException:
            return
        for each in offsets:
            if each.offset >= 0 and each.error is None:
                self.committed[each.partition] = each.offset
        self.committed_at.append(time.perf_counter())
