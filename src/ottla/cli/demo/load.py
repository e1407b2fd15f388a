"""The client of the demo: creates topics, sends records, and reads numbered records back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Final

from ottla.client.administration.admin import Admin
from ottla.client.administration.topics import NewTopic
from ottla.client.consuming.consumer import Consumer
from ottla.client.sync.producer import PendingDelivery, Producer
from ottla.model import TopicPartition
from ottla.runtime.clock import Clock

WAIT_SECONDS: Final = 30
# The producer's queue is limited, because a long queue would hide pauses.
_QUEUED_BYTES_MAX: Final = 20 << 20


def create_topics(bootstrap: str, topics: Mapping[str, dict[str, str]], *, partitions: int) -> None:
    """Creates topics. `topics` has their configs by name."""

    async def create() -> None:
        async with Admin(bootstrap_servers=bootstrap) as admin:
            new = [NewTopic(name, partitions, configs=each) for name, each in topics.items()]
            (await admin.create_topics(new)).all()

    asyncio.run(create())


class Sender:
    """An idempotent producer that counts acknowledgements.

    `longest_gaps` has, for each partition, the longest time without an acknowledgement while some
    were outstanding.
    """

    def __init__(self, bootstrap: str, topic: str, clock: Clock, *, partitions: int) -> None:
        self.sent = 0
        self.acknowledged = 0
        self.longest_gaps = dict.fromkeys(range(partitions), 0.0)
        self._topic = topic
        self._clock = clock
        self._last = dict.fromkeys(range(partitions), 0.0)
        self._pending: deque[PendingDelivery] = deque()
        self._producer = Producer(
            bootstrap_servers=bootstrap, buffer_memory=_QUEUED_BYTES_MAX, batch_size=65_536
        )

    @property
    def unanswered(self) -> int:
        return self.sent - self.acknowledged

    def send(self, value: bytes, *, partition: int | None, key: bytes | None = None) -> None:
        self._pending.append(self._producer.send(self._topic, value, key=key, partition=partition))
        self.sent += 1
        self._collect()

    def forget_gaps(self) -> None:
        """Measures gaps from now on."""
        self.longest_gaps = dict.fromkeys(self.longest_gaps, 0.0)
        self._last = dict.fromkeys(self._last, self._clock.monotonic())

    def finish(self) -> None:
        self._producer.flush(timeout=WAIT_SECONDS)
        self._collect()
        assert self.acknowledged == self.sent, f"{self.unanswered} records were not acknowledged"
        self._producer.close()

    def _collect(self) -> None:
        while self._pending and self._pending[0].done():
            self._delivered(self._pending.popleft().result().partition)

    def _delivered(self, partition: int) -> None:
        self.acknowledged += 1
        now = self._clock.monotonic()
        if self._last[partition]:
            gap = now - self._last[partition]
            self.longest_gaps[partition] = max(self.longest_gaps[partition], gap)
        self._last[partition] = now


def leaders(bootstrap: str, topic: str) -> dict[int, int]:
    """The leader of each partition; -1 if it has none."""

    async def described() -> dict[int, int]:
        async with Admin(bootstrap_servers=bootstrap) as admin:
            found = await admin.describe_topic(topic, timeout=WAIT_SECONDS)
        return {
            each.partition: -1 if each.leader is None else each.leader for each in found.partitions
        }

    return asyncio.run(described())


def read_all(bootstrap: str, topic: str, *, partitions: int) -> Mapping[int, list[int]]:
    """The numbers in each partition, in the order of its log."""
    names = [TopicPartition(topic, partition) for partition in range(partitions)]
    found: dict[int, list[int]] = {partition: [] for partition in range(partitions)}

    async def read() -> None:
        async with Consumer(bootstrap_servers=bootstrap) as consumer:
            consumer.assign(names)
            consumer.seek_to_beginning()
            end, count = sum((await consumer.end_offsets(names)).values()), 0
            while count < end:
                records = await consumer.poll(WAIT_SECONDS)
                assert records, f"only {count} of {end} records were received"
                for record in records:
                    found[record.partition].append(int(record.value or b""))
                count += len(records)

    asyncio.run(read())
    return found
