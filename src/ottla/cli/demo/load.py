"""The client of the demo: creates topics, sends records, and reads numbered records back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from ottla.runtime.clock import Clock

WAIT_SECONDS: Final = 30
_BATCH: Final = 10_000
# The producer's queue is limited, because a long queue would hide pauses.
_QUEUED_RECORDS_MAX: Final = 20_000


def create_topics(bootstrap: str, topics: Mapping[str, dict[str, str]], *, partitions: int) -> None:
    """Creates topics. `topics` has their configs by name."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    new = [NewTopic(name, partitions, config=configs) for name, configs in topics.items()]
    for created in admin.create_topics(new).values():
        created.result()


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
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "queue.buffering.max.messages": _QUEUED_RECORDS_MAX,
                "log_level": 0,
            }
        )

    @property
    def unanswered(self) -> int:
        return self.sent - self.acknowledged

    def send(self, value: bytes, *, partition: int, key: bytes | None = None) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic, value, key, partition, on_delivery=self._delivered
                )
            except BufferError:
                self._producer.poll(0.1)
            else:
                break
        self.sent += 1
        self._producer.poll(0)

    def forget_gaps(self) -> None:
        """Measures gaps from now on."""
        self.longest_gaps = dict.fromkeys(self.longest_gaps, 0.0)
        self._last = dict.fromkeys(self._last, self._clock.monotonic())

    def finish(self) -> None:
        left = self._producer.flush(WAIT_SECONDS)
        assert left == 0, f"records that were not acknowledged: {left}"
        assert self.acknowledged == self.sent

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        self.acknowledged += 1
        partition, now = message.partition(), self._clock.monotonic()
        assert partition is not None
        if self._last[partition]:
            gap = now - self._last[partition]
            self.longest_gaps[partition] = max(self.longest_gaps[partition], gap)
        self._last[partition] = now


def leaders(bootstrap: str, topic: str) -> dict[int, int]:
    """The leader of each partition."""
    client = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    found = client.list_topics(topic, timeout=WAIT_SECONDS).topics[topic]
    return {number: int(partition.leader) for number, partition in found.partitions.items()}


def read_all(bootstrap: str, topic: str, *, partitions: int) -> Mapping[int, list[int]]:
    """The numbers in each partition, in the order of its log."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "demo",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    places = [TopicPartition(topic, partition, 0) for partition in range(partitions)]
    consumer.assign(places)
    end = sum(consumer.get_watermark_offsets(place, timeout=WAIT_SECONDS)[1] for place in places)
    found: dict[int, list[int]] = {partition: [] for partition in range(partitions)}
    count = 0
    while count < end:
        messages = consumer.consume(_BATCH, timeout=WAIT_SECONDS)
        assert messages, f"only {count} of {end} records were received"
        for message in messages:
            partition = message.partition()
            assert message.error() is None, message.error()
            assert partition is not None
            found[partition].append(int(message.value() or b""))
        count += len(messages)
    consumer.close()
    return found
