"""A reader of a transactional partition, with either isolation level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ottla.client.records import ConsumedRecord
from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.history.history import Event
from ottla.simulation.history.transaction_events import StableOffsetSeen, TransactionalRead
from ottla.simulation.world.host import Host
from ottla.wire.messages.fetch import PartitionData

READ_UNCOMMITTED: Final = "read_uncommitted"
READ_COMMITTED: Final = "read_committed"


class TransactionalReader(SimulatedConsumer):
    """Belongs to the process of its host; several can share one host."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        partition: TopicPartition,
        *,
        isolation_level: str,
        name: str,
    ) -> None:
        super().__init__(host, bootstrap, record, partition, name=name)
        self.isolation_level = isolation_level

    def _note_offsets(self, node_id: int, leader_epoch: int, data: PartitionData) -> None:
        super()._note_offsets(node_id, leader_epoch, data)
        self._record(
            StableOffsetSeen(
                self.name,
                self.partition,
                node_id,
                leader_epoch,
                data.last_stable_offset,
                data.high_watermark,
            )
        )

    def _note_read(self, record: ConsumedRecord) -> None:
        is_committed = self.isolation_level == READ_COMMITTED
        value = record.value or b""
        self._record(
            TransactionalRead(self.name, self.partition, record.offset, value, is_committed)
        )
