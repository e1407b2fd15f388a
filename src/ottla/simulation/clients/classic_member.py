"""A group member that uses the classic protocol: JoinGroup, SyncGroup, Heartbeat.

Rebalancing is eager: before a member rejoins it gives up all its partitions.
"""

from __future__ import annotations

from typing import Any, Final

from ottla.model import ErrorCode
from ottla.simulation.clients.group_member import GroupMember
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

_JOIN_VERSION: Final = 9
_SYNC_VERSION: Final = 5
_HEARTBEAT_VERSION: Final = 4
_SESSION_TIMEOUT_MS: Final = 6_000
_REBALANCE_TIMEOUT_MS: Final = 4_000
_JOIN_TIMEOUT_MS: Final = 12_000
_HEARTBEAT_SECONDS: Final = 1.0
_PROTOCOL_TYPE: Final = "simulated"
_PROTOCOL: Final = "in turn"


class SimulatedClassicMember(GroupMember):
    """Rejoins on a rebalance, or when the coordinator no longer has the member."""

    async def run(self) -> None:
        while True:
            self.own(())
            joined = await self._join()
            if joined is not None and await self._sync(joined):
                await self._stay()
            else:
                await self.coordinator.back_off()

    async def _join(self) -> Any | None:
        request = JoinGroupRequest(
            group_id=self.coordinator.group,
            session_timeout_ms=_SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            protocol_type=_PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(name=_PROTOCOL)],
        )
        response = await self.coordinator.send_request(
            request, _JOIN_VERSION, timeout_ms=_JOIN_TIMEOUT_MS
        )
        if response is None:
            return None
        error = self.coordinator.handle_error(response.error_code)
        if error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
        elif error is ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        if error is not ErrorCode.NONE:
            return None
        self.member_id = response.member_id
        return response

    async def _sync(self, joined: Any) -> bool:
        request = SyncGroupRequest(
            group_id=self.coordinator.group,
            generation_id=joined.generation_id,
            member_id=self.member_id,
            protocol_type=_PROTOCOL_TYPE,
            protocol_name=_PROTOCOL,
        )
        if joined.leader == self.member_id:
            request.assignments = self._assign([each.member_id for each in joined.members])
        response = await self.coordinator.send_request(
            request, _SYNC_VERSION, timeout_ms=_JOIN_TIMEOUT_MS
        )
        if response is None or self.coordinator.handle_error(response.error_code):
            return False
        self.epoch = joined.generation_id
        self.own(self.partitions[index] for index in bytes(response.assignment))
        return True

    def _assign(self, member_ids: list[str]) -> list[SyncGroupRequestAssignment]:
        """Assigns partitions round-robin; each partition index is one byte."""
        count = len(member_ids)
        return [
            SyncGroupRequestAssignment(
                member_id=member_id, assignment=bytes(range(at, len(self.partitions), count))
            )
            for at, member_id in enumerate(sorted(member_ids))
        ]

    async def _stay(self) -> None:
        """Sends heartbeats until the member has to rejoin."""
        while True:
            await self.host.clock.sleep(_HEARTBEAT_SECONDS)
            request = HeartbeatRequest(
                group_id=self.coordinator.group,
                generation_id=self.epoch,
                member_id=self.member_id,
            )
            response = await self.coordinator.send_request(request, _HEARTBEAT_VERSION)
            if response is None:
                continue
            match self.coordinator.handle_error(response.error_code):
                case ErrorCode.UNKNOWN_MEMBER_ID:
                    self.member_id = ""
                    return
                case ErrorCode.REBALANCE_IN_PROGRESS | ErrorCode.ILLEGAL_GENERATION:
                    return
