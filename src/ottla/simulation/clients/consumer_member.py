"""A group member that uses the consumer protocol (KIP-848): heartbeats carry the assignment."""

from __future__ import annotations

from typing import Any, Final

from ottla.model import ZERO_UUID, ErrorCode, TopicPartition, uuid_to_text
from ottla.simulation.clients.group_member import GroupMember
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)

_VERSION: Final = 1
_JOINING: Final = 0
_REBALANCE_TIMEOUT_MS: Final = 5_000
_FENCED: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH})


class SimulatedConsumerMember(GroupMember):
    """Rejoins when the coordinator fences the member or no longer has it."""

    async def run(self) -> None:
        self.member_id = uuid_to_text(self.host.dice.fork(self.name).uuid())
        self.epoch = _JOINING
        self._topic_id = ZERO_UUID
        while True:
            response = await self.coordinator.send_request(self._heartbeat(), _VERSION)
            if response is None:
                await self.coordinator.back_off()
                continue
            error = self.coordinator.handle_error(response.error_code)
            if error is ErrorCode.NONE:
                self._take(response)
                await self.host.clock.sleep(response.heartbeat_interval_ms / 1_000)
            else:
                if error in _FENCED:
                    self.epoch = _JOINING
                    self.own(())
                await self.coordinator.back_off()

    def _heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.coordinator.group,
            member_id=self.member_id,
            member_epoch=self.epoch,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=[self.topic],
            topic_partitions=[],
        )
        if self.epoch != _JOINING and self.owned:
            owned = [partition.partition for partition in self.owned]
            request.topic_partitions = [TopicPartitions(topic_id=self._topic_id, partitions=owned)]
        return request

    def _take(self, response: Any) -> None:
        self.epoch = response.member_epoch
        if response.assignment is None:
            return
        assigned = []
        for each in response.assignment.topic_partitions:
            self._topic_id = each.topic_id
            assigned += [TopicPartition(self.topic, index) for index in each.partitions]
        self.own(assigned)
