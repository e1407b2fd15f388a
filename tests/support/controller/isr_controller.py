"""A controller of one partition: elections from the ISR only, and AlterPartition's rules."""

from __future__ import annotations

from typing import NamedTuple

from ottla.metadata import NO_LEADER, BrokerRegistration, PartitionRegistration
from ottla.model import ZERO_UUID, ErrorCode
from ottla.replication.isr_change import CommittedIsr, IsrChange
from tests.support.controller.brokers import broker

NODES = (1, 2, 3)


class Metadata(NamedTuple):
    """What brokers learn, one version after the other."""

    registration: PartitionRegistration
    brokers: dict[int, BrokerRegistration]


class IsrController:
    """Every change appends to `versions`."""

    def __init__(self) -> None:
        first = PartitionRegistration(NODES, NODES, 1, 0, 0, (ZERO_UUID,) * len(NODES))
        self._broker_epoch = len(NODES)
        brokers = {each: broker(each, epoch=each) for each in NODES}
        self.versions = [Metadata(first, brokers)]

    @property
    def registration(self) -> PartitionRegistration:
        return self.versions[-1].registration

    @property
    def brokers(self) -> dict[int, BrokerRegistration]:
        return self.versions[-1].brokers

    def fence(self, node_id: int) -> None:
        """A broker is gone: it leaves the ISR unless it is the last one of it."""
        brokers = {**self.brokers, node_id: broker(node_id, epoch=-1, fenced=True)}
        now = self.registration
        isr = tuple(each for each in now.isr if each != node_id) or now.isr
        leader = now.leader
        if leader == node_id:
            able = [each for each in isr if not brokers[each].fenced]
            leader = able[0] if able else NO_LEADER
        self._change(isr, leader, brokers)

    def register(self, node_id: int) -> int:
        """A broker is back; members of the ISR can lead again. Returns its epoch."""
        if not self.brokers[node_id].fenced:
            self.fence(node_id)
        self._broker_epoch += 1
        brokers = {**self.brokers, node_id: broker(node_id, epoch=self._broker_epoch)}
        now = self.registration
        is_needed = now.leader == NO_LEADER and node_id in now.isr
        self._change(now.isr, node_id if is_needed else now.leader, brokers)
        return self._broker_epoch

    def elect(self, node_id: int) -> None:
        """An election that an operator asked for."""
        if node_id in self.registration.isr and not self.brokers[node_id].fenced:
            self._change(self.registration.isr, node_id, self.brokers)

    def alter_partition(self, leader: int, change: IsrChange) -> CommittedIsr | ErrorCode:
        now = self.registration
        if now.leader != leader or now.leader_epoch != change.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if now.partition_epoch != change.partition_epoch:
            return ErrorCode.INVALID_UPDATE_VERSION
        for replica in change.new_isr:
            known = self.brokers[replica.id]
            if not known.is_active or replica.broker_epoch not in (-1, known.epoch):
                return ErrorCode.INELIGIBLE_REPLICA
        self._change(tuple(each.id for each in change.new_isr), now.leader, self.brokers)
        now = self.registration
        return CommittedIsr(now.leader_epoch, now.partition_epoch, now.isr)

    def _change(
        self, isr: tuple[int, ...], leader: int, brokers: dict[int, BrokerRegistration]
    ) -> None:
        now = self.registration
        if (isr, leader) != (now.isr, now.leader):
            now = now._replace(
                isr=isr,
                leader=leader,
                leader_epoch=now.leader_epoch + (leader != now.leader),
                partition_epoch=now.partition_epoch + 1,
            )
        self.versions.append(Metadata(now, brokers))
