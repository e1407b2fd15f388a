"""A consumer of a topic with delayed delivery, which records what it gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.client.records import ConsumedRecord
from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.history.delay_events import DelayRead
from ottla.simulation.history.history import Event, Read
from ottla.simulation.world.host import Host


class SimulatedDelayReader(SimulatedConsumer):
    """A consumer of one partition, in the process of a host."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        partition: TopicPartition,
    ) -> None:
        super().__init__(host, bootstrap, self._note, partition, name=host.name)
        self._tell = record
        self.values: set[bytes] = set()

    def _note(self, event: Event) -> None:
        if not isinstance(event, Read):
            self._tell(event)

    def _note_read(self, record: ConsumedRecord) -> None:
        super()._note_read(record)
        value = record.value or b""
        due = dict(record.headers).get("ottla-deliver-at")
        self.values.add(value)
        self._tell(
            DelayRead(
                self.name,
                record.offset,
                record.key or b"",
                value,
                None if due is None else int(due),
                record.timestamp,
            )
        )
