"""Producers that write good and bad records to a topic that checks schemas.

Some records name a schema that is registered only later: a batch may be bad when it is sent, and
good when it is sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from ottla.model import TopicPartition
from ottla.schemas.framing import frame
from ottla.simulation.claims.checked_claims import BAD, CHECKED
from ottla.simulation.clients.producer import SimulatedProducer
from ottla.simulation.clients.registrar import SimulatedRegistrar
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.checked_events import CheckedAcknowledged, LetterRow, LettersHeld
from ottla.simulation.history.history import Acknowledged, Event
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World
from ottla.storage.log.log import Log
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.record import iterate_records

SCHEMAS: Final = "_schemas"
LETTERS: Final = "dlq.checked"
CHECKED_PARTITIONS: Final = 2
CHECKED_CONFIGS: Final = {
    "ottla.value.schema.validation": "schema-id",
    "ottla.schema.deadletterqueue.topic.name": LETTERS,
}
LETTERS_CONFIGS: Final = {"errors.deadletterqueue.group.enable": "true"}
SCHEMAS_CONFIGS: Final = {"cleanup.policy": "compact"}
_SUBJECT: Final = f"{CHECKED}-value"
_IDS: Final = 12
_REGISTER_MS_MAX: Final = 6_000
_PAUSE_MS_MAX: Final = 1_500
_HELD_SECONDS: Final = 0.5
_BAD_PROBABILITY: Final = 0.2
_LATE_PROBABILITY: Final = 0.3
_RECORDS_MAX: Final = 3
_READ_BYTES: Final = 1 << 20


class CheckedLoad:
    """Each producer is on its own host. After `end` they send nothing new until `go_on`."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        host: Callable[[str], Host],
        *,
        producers: int,
        under_way: int,
        pace: float,
        is_over: Callable[[], bool],
    ) -> None:
        self.partitions = [TopicPartition(CHECKED, at) for at in range(CHECKED_PARTITIONS)]
        self._world = world
        self._cluster = cluster
        self._is_over = is_over
        self._under_way = under_way
        self._pace = pace
        self._writing: dict[bytes, str] = {}
        self._registered = 0
        self._registrar_host = host("registrar")
        self._registrar = SimulatedRegistrar(self._registrar_host, cluster.bootstrap, topic=SCHEMAS)
        self._producers = []
        for number in range(1, producers + 1):
            home = host(f"checked-{number}")
            producer = SimulatedProducer(home, cluster.bootstrap, self._record, name=home.name)
            self._producers.append((home, producer))

    @property
    def all_partitions(self) -> list[TopicPartition]:
        return [*self.partitions, TopicPartition(LETTERS, 0), TopicPartition(SCHEMAS, 0)]

    def start(self) -> None:
        self._registrar_host.run("register", self._register())
        for host, producer in self._producers:
            for partition in self.partitions:
                host.run("produce", self._produce(host, producer, partition))

    def reasons(self) -> Iterator[str]:
        """What is missing until everything sent is acknowledged."""
        yield from self._writing.values()

    def record_end(self) -> None:
        """Records the dead letters on all replicas."""
        for observer, node in zip(self._cluster.observers, self._cluster.nodes, strict=True):
            broker = observer.broker
            partition = None if broker is None else broker.partitions.get(self.all_partitions[-2])
            if partition is not None and partition.log is not None:
                rows = tuple(_letters(partition.log))
                self._world.record(LettersHeld(node.name, partition.name, rows))

    def _record(self, event: Event) -> None:
        """Acknowledged records may be in another topic than other claims expect."""
        if isinstance(event, Acknowledged):
            event = CheckedAcknowledged(event.who, event.partition, event.value, event.offset)
        self._world.record(event)

    async def _register(self) -> None:
        dice = self._registrar_host.dice.fork("registrar")
        for id_ in range(1, _IDS + 1):
            await self._registrar.register(_SUBJECT, id_)
            self._registered = id_
            pause_ms = dice.between(low=1, high=_REGISTER_MS_MAX)
            await self._registrar_host.clock.sleep(pause_ms / 1_000)

    async def _produce(
        self, host: Host, producer: SimulatedProducer, partition: TopicPartition
    ) -> None:
        dice, number = host.dice.fork(str(partition)), 0
        room = asyncio.Semaphore(self._under_way)
        while True:
            if self._is_over() or not self._registered:
                await host.clock.sleep(_HELD_SECONDS)
                continue
            values = []
            for _ in range(dice.between(low=1, high=_RECORDS_MAX)):
                name = f"{producer.name}/{partition.partition}/{number}".encode()
                number += 1
                if dice.chance(_BAD_PROBABILITY):
                    values.append(BAD + name)
                    continue
                id_ = dice.between(low=1, high=self._registered)
                if dice.chance(_LATE_PROBABILITY):
                    id_ = min(self._registered + 1, _IDS)
                values.append(frame(id_, name))
            await room.acquire()
            host.run("send", self._send(producer, partition, values, room))
            pause_ms = dice.between(low=1, high=_PAUSE_MS_MAX)
            await host.clock.sleep(self._pace * pause_ms / 1_000)

    async def _send(
        self,
        producer: SimulatedProducer,
        partition: TopicPartition,
        values: list[bytes],
        room: asyncio.Semaphore,
    ) -> None:
        self._writing[values[0]] = f"{producer.name} waits for {values[0]!r}"
        await producer.send(partition, *values)
        del self._writing[values[0]]
        room.release()


def _letters(log: Log) -> Iterator[LetterRow]:
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        piece = log.read(
            offset, bytes_max=_READ_BYTES, upper_offset=log.log_end_offset, min_one_batch=True
        )
        if piece is None:
            return
        data = piece.read()
        for position, header in iterate_batches(data):
            for record in iterate_records(data, position):
                headers = dict(record.headers)
                yield LetterRow(
                    record.value or b"",
                    int(headers["__dlq.errors.partition"] or b""),
                    int(headers["__dlq.errors.offset"] or b""),
                )
            offset = header.next_offset
