"""Delayed delivery of a run: a producer that asks for it and cancels, and a consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ottla.model import Offset, TimestampMs, TopicPartition
from ottla.simulation.clients.delay_reader import SimulatedDelayReader
from ottla.simulation.clients.producer import SimulatedProducer
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.delay_events import (
    CancelAnswered,
    CancelSent,
    DelayAnswered,
    DelaysEnded,
    DelaySent,
)
from ottla.simulation.history.history import Event, ProducerFailed
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World
from ottla.wire.records.record import Record, RecordHeader

# Like an internal topic, it is not compared with what other producers have sent.
DELAYED_TOPIC: Final = "__later"
DELAYED_CONFIGS: Final = {
    "ottla.delivery.delay.enable": "true",
    # A released record then says when its leader has released it.
    "message.timestamp.type": "LogAppendTime",
}
_KEYS: Final = 3
_RECORDS_MAX: Final = 3
_DELAYS_MS: Final = (300, 2_000, 2_000, 8_000)
_PAUSE_MS_MAX: Final = 600
_CANCEL_PROBABILITY: Final = 0.12
_DIRECT_PROBABILITY: Final = 0.2
_HELD_SECONDS: Final = 0.5


class DelayLoad:
    """`start` it once the topic exists. Ends with its hosts."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        host: Callable[[str], Host],
        *,
        is_over: Callable[[], bool],
    ) -> None:
        self._world = world
        self._cluster = cluster
        self._is_over = is_over
        self._partition = TopicPartition(DELAYED_TOPIC, 0)
        self._host = host("delayer")
        self._producer = SimulatedProducer(
            self._host, cluster.bootstrap, self._note, name=self._host.name
        )
        self._reading = host("delay-reader")
        self._reader = SimulatedDelayReader(
            self._reading, cluster.bootstrap, world.record, self._partition
        )
        self._number = 0
        # What was sent last is not acknowledged yet.
        self._is_sending = False
        # What has to be delivered, by key: the due time of each value.
        self._due: dict[bytes, dict[bytes, int | None]] = {}

    def start(self) -> None:
        self._host.run("delay", self._produce())
        self._reading.run("read delayed", self._read())

    def reasons(self) -> Iterator[str]:
        """What is due and was not delivered yet."""
        if self._is_sending:
            yield f"{self._host.name} waits for an answer"
        now_ms = self._now_ms()
        for of_key in self._due.values():
            for value, due_ms in of_key.items():
                is_due = due_ms is None or due_ms <= now_ms
                if is_due and value not in self._reader.values:
                    yield f"{value!r} is due and was not delivered"

    def record_end(self) -> None:
        self._world.record(DelaysEnded("world", self._now_ms()))

    def _note(self, event: Event) -> None:
        if isinstance(event, ProducerFailed):
            self._world.record(event)

    def _now_ms(self) -> int:
        """A time that is past by the clocks of all nodes that have been up for a moment."""
        return min(node.clock.now_ms() for node in self._cluster.nodes) - 2_000

    async def _read(self) -> None:
        while True:
            await self._reader.poll()

    async def _produce(self) -> None:
        dice = self._host.dice.fork("delays")
        while True:
            if self._is_over():
                await self._host.clock.sleep(_HELD_SECONDS)
                continue
            key = b"key-%d" % dice.below(_KEYS)
            self._is_sending = True
            if dice.chance(_CANCEL_PROBABILITY):
                await self._cancel(key)
            else:
                await self._send(dice.between(low=1, high=_RECORDS_MAX))
            self._is_sending = False
            await self._host.clock.sleep(dice.between(low=1, high=_PAUSE_MS_MAX) / 1_000)

    async def _send(self, count: int) -> None:
        dice, records = self._host.dice, []
        now_ms = self._leaders_now_ms()
        for at in range(count):
            self._number += 1
            key, value = b"key-%d" % dice.below(_KEYS), b"held-%d" % self._number
            due_ms = None
            headers: tuple[RecordHeader, ...] = ()
            if not dice.chance(_DIRECT_PROBABILITY):
                # Rounded, so that some are due at the same time.
                due_ms = (now_ms + dice.below(dice.choice(_DELAYS_MS))) // 100 * 100
                headers = (("ottla-deliver-at", str(due_ms).encode()),)
            timestamp = TimestampMs(self._host.clock.now_ms())
            records.append(Record(Offset(at), timestamp, key, value, headers))
            self._world.record(DelaySent(self._host.name, key, value, due_ms))
            self._due.setdefault(key, {})[value] = due_ms
        offset = await self._producer.send_records(self._partition, records)
        for at, record in enumerate(records):
            answered = offset + at if offset >= 0 else -1
            self._world.record(DelayAnswered(self._host.name, record.value or b"", answered))

    async def _cancel(self, key: bytes) -> None:
        self._world.record(CancelSent(self._host.name, key))
        self._due.pop(key, None)
        headers = (("ottla-cancel", b""),)
        timestamp = TimestampMs(self._host.clock.now_ms())
        record = Record(Offset(0), timestamp, key, b"", headers)
        offset = await self._producer.send_records(self._partition, [record])
        self._world.record(CancelAnswered(self._host.name, key, offset))

    def _leaders_now_ms(self) -> int:
        """By the clock of the leader, because the clocks of nodes differ by minutes in some
        runs."""
        leader = self._cluster.leader_of(*self._partition)
        return (leader or self._cluster.nodes[0]).clock.now_ms()
