"""A reader of a transactional partition, with either isolation level.

With read_committed the leader returns nothing beyond the last stable offset, together with a list
of the aborted transactions; the reader has to filter out their records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import KnownLeader
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.history.history import Event
from ottla.simulation.history.transaction_events import StableOffsetSeen, TransactionalRead
from ottla.simulation.world.host import Host
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.record import Record, iterate_records

READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1


class TransactionalReader(SimulatedConsumer):
    """Belongs to the process of its host; several can share one host."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        partition: TopicPartition,
        *,
        isolation_level: int,
        name: str,
    ) -> None:
        super().__init__(host, bootstrap, record, partition, name=name)
        self.isolation_level = isolation_level

    def _keep(self, leader: KnownLeader, found: Any, buffer: memoryview) -> list[Record]:
        self._record(
            StableOffsetSeen(
                self.name,
                self.partition,
                leader.node_id,
                leader.leader_epoch,
                found.last_stable_offset,
                found.high_watermark,
            )
        )
        is_committed = self.isolation_level == READ_COMMITTED
        aborted = sorted(
            (each.first_offset, each.producer_id) for each in found.aborted_transactions or ()
        )
        skipped: set[int] = set()
        records = []
        for position, header in iterate_batches(buffer):
            while aborted and aborted[0][0] <= header.last_offset:
                skipped.add(aborted.pop(0)[1])
            if header.is_control:
                (marker,) = iterate_records(buffer, position)
                if read_control_type(marker.key) is ControlRecordType.ABORT:
                    skipped.discard(header.producer_id)
            elif not (is_committed and header.is_transactional and header.producer_id in skipped):
                records += [
                    each
                    for each in iterate_records(buffer, position)
                    if each.offset >= self.position
                ]
            self.position = max(self.position, header.next_offset)
            self.leader_epoch = max(self.leader_epoch, header.leader_epoch)
        for record in records:
            self._record(
                TransactionalRead(
                    self.name, self.partition, record.offset, record.value or b"", is_committed
                )
            )
        return records
