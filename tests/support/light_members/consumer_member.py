"""A light member of the consumer protocol (KIP-848)."""

from __future__ import annotations

from ottla.model import ZERO_UUID, uuid_to_text
from ottla.runtime.dice import SystemDice
from ottla.wire.messages import consumer_group_heartbeat as wire
from tests.support.light_members.member import LightMember

_VERSION = 1
_REBALANCE_TIMEOUT_MS = 60_000
_LEAVE_EPOCH = -1


class LightConsumerMember(LightMember):
    """Revokes partitions as soon as a response requires it, and confirms it at once."""

    _epoch = 0
    _topic_id = ZERO_UUID

    async def run(self) -> None:
        self._member_id = uuid_to_text(SystemDice().uuid())
        answer = await self._heartbeat(self._joining())
        while True:
            self._epoch = answer.member_epoch
            if answer.assignment is None:
                await self.sleep(answer.heartbeat_interval_ms)
                answer = await self._heartbeat(self._request())
            else:
                self._take(answer.assignment)
                answer = await self._heartbeat(self._reporting())

    async def leave(self) -> None:
        request = self._request()
        request.member_epoch = _LEAVE_EPOCH
        await self.send_request(request, _VERSION)

    async def _heartbeat(
        self, request: wire.ConsumerGroupHeartbeatRequest
    ) -> wire.ConsumerGroupHeartbeatResponse:
        answer: wire.ConsumerGroupHeartbeatResponse = await self.send_request(request, _VERSION)
        assert not answer.error_code, answer.error_message
        return answer

    def _request(self) -> wire.ConsumerGroupHeartbeatRequest:
        return wire.ConsumerGroupHeartbeatRequest(
            group_id=self.group_id, member_id=self._member_id, member_epoch=self._epoch
        )

    def _joining(self) -> wire.ConsumerGroupHeartbeatRequest:
        request = self._request()
        request.rebalance_timeout_ms = _REBALANCE_TIMEOUT_MS
        request.subscribed_topic_names = [self.topic]
        request.topic_partitions = []
        return request

    def _reporting(self) -> wire.ConsumerGroupHeartbeatRequest:
        request = self._request()
        mine = wire.TopicPartitions(topic_id=self._topic_id, partitions=sorted(self.owned))
        request.topic_partitions = [mine] if self.owned else []
        return request

    def _take(self, assignment: wire.Assignment) -> None:
        partitions: frozenset[int] = frozenset()
        for topic in assignment.topic_partitions:
            self._topic_id = topic.topic_id
            partitions = frozenset(topic.partitions)
        self.own(partitions)
