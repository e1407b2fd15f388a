"""A light member of a classic group that rebalances cooperatively (KIP-429)."""

from __future__ import annotations

import struct

from ottla.model import ErrorCode
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from ottla.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from tests.support.light_members.cooperative import assign_cooperatively
from tests.support.light_members.member import LightMember

# Those of the Java client.
HEARTBEAT_INTERVAL_MS = 3_000
SESSION_TIMEOUT_MS = 45_000
_REBALANCE_TIMEOUT_MS = 60_000

_JOIN_VERSION = 9
_SYNC_VERSION = 5
_HEARTBEAT_VERSION = 4
_LEAVE_VERSION = 5
_PROTOCOL_TYPE = "consumer"
_PROTOCOL = "cooperative-sticky"
_CONSUMER_VERSION = 1
_VERSION = struct.Struct(">h")


class LightClassicMember(LightMember):
    """Goes on with what it has while others join; where partitions are taken from it, it lets go
    of them and joins once more. `partition_count` is what a leader has to know."""

    partition_count = 0
    _member_id = ""
    _generation = -1

    async def run(self) -> None:
        await self._rebalance()
        while True:
            await self.sleep(HEARTBEAT_INTERVAL_MS)
            request = HeartbeatRequest(
                group_id=self.group_id, generation_id=self._generation, member_id=self._member_id
            )
            answer = await self.send_request(request, _HEARTBEAT_VERSION)
            if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                await self._rebalance()
            else:
                assert not answer.error_code, ErrorCode(answer.error_code).name

    async def leave(self) -> None:
        request = LeaveGroupRequest(
            group_id=self.group_id, members=[MemberIdentity(member_id=self._member_id)]
        )
        await self.send_request(request, _LEAVE_VERSION)

    async def _rebalance(self) -> None:
        is_settled = False
        while not is_settled:
            joined = await self._join()
            synced = await self._sync(joined)
            if synced.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                continue
            assert not synced.error_code, ErrorCode(synced.error_code).name
            before = self.owned
            self.own(_read_assignment(synced.assignment))
            is_settled = before <= self.owned

    async def _join(self) -> JoinGroupResponse:
        subscription = ConsumerProtocolSubscription(
            topics=[self.topic],
            owned_partitions=[TopicPartition(topic=self.topic, partitions=sorted(self.owned))],
        )
        metadata = _VERSION.pack(_CONSUMER_VERSION) + subscription.encode(_CONSUMER_VERSION)
        while True:
            request = JoinGroupRequest(
                group_id=self.group_id,
                session_timeout_ms=SESSION_TIMEOUT_MS,
                rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
                member_id=self._member_id,
                protocol_type=_PROTOCOL_TYPE,
                protocols=[JoinGroupRequestProtocol(name=_PROTOCOL, metadata=metadata)],
            )
            joined: JoinGroupResponse = await self.send_request(
                request, _JOIN_VERSION, is_prompt=False
            )
            self._member_id = joined.member_id
            if joined.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                break
        assert not joined.error_code, ErrorCode(joined.error_code).name
        self._generation = joined.generation_id
        return joined

    async def _sync(self, joined: JoinGroupResponse) -> SyncGroupResponse:
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=joined.generation_id,
            member_id=self._member_id,
            protocol_type=_PROTOCOL_TYPE,
            protocol_name=_PROTOCOL,
        )
        if joined.leader == self._member_id:
            request.assignments = self._assign(joined)
        answer: SyncGroupResponse = await self.send_request(request, _SYNC_VERSION, is_prompt=False)
        return answer

    def _assign(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        owned = {each.member_id: _read_owned(each.metadata) for each in joined.members}
        assigned = assign_cooperatively(owned, partition_count=self.partition_count)
        return [
            SyncGroupRequestAssignment(member_id=member_id, assignment=self._assignment(partitions))
            for member_id, partitions in assigned.items()
        ]

    def _assignment(self, partitions: list[int]) -> bytes:
        mine = TopicPartition(topic=self.topic, partitions=partitions)
        message = ConsumerProtocolAssignment(assigned_partitions=[mine])
        return _VERSION.pack(_CONSUMER_VERSION) + message.encode(_CONSUMER_VERSION)


def _read_owned(metadata: bytes) -> frozenset[int]:
    subscription, _ = ConsumerProtocolSubscription.decode_from(
        metadata, _CONSUMER_VERSION, _VERSION.size
    )
    return frozenset(number for each in subscription.owned_partitions for number in each.partitions)


def _read_assignment(data: bytes) -> frozenset[int]:
    assignment, _ = ConsumerProtocolAssignment.decode_from(data, _CONSUMER_VERSION, _VERSION.size)
    return frozenset(
        number for each in assignment.assigned_partitions for number in each.partitions
    )
