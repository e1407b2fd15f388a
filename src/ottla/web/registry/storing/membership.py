"""The group of all instances of one registry, which elects the writer.

A group of the classic protocol with the protocol type of Confluent's registry. Each member says at
which address it serves; the group's leader, which the coordinator chooses, names the writer in the
assignment: the member that is the writer already, if it is still there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, CoordinatorKind, Lane
from ottla.model import ErrorCode, KafkaError
from ottla.web.service.instance_address import InstanceAddress
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from ottla.wire.schema import Message

_log = logging.getLogger(__name__)

_PROTOCOL_TYPE: Final = "sr"
_PROTOCOL: Final = "v0"
_SESSION_TIMEOUT_MS: Final = 6_000
_REBALANCE_TIMEOUT_MS: Final = 1_500
_HEARTBEAT_SECONDS: Final = 0.3
_PAUSE_SECONDS: Final = 0.2
_JOIN_TIMEOUT_MS: Final = 15_000


class ElectedWriter(NamedTuple):
    """`generation` is that of the group: a later election has a higher one."""

    member_id: str
    address: InstanceAddress
    is_here: bool
    generation: int


class _Member(msgspec.Struct):
    """Metadata of a member, in the form of Confluent's registry."""

    host: str
    port: int
    scheme: str = "http"
    master_eligibility: bool = True
    version: int = 1
    is_writer: bool = False


class _Assignment(msgspec.Struct):
    master: str | None
    master_identity: _Member | None
    error: int = 0
    version: int = 1


class RegistryMembership:
    """Runs in a task until it is cancelled. Calls `elected` after each election, with None when
    there is no writer that this instance knows."""

    def __init__(
        self,
        cluster: ClientCluster,
        group_id: str,
        address: InstanceAddress,
        elected: Callable[[ElectedWriter | None], None],
        is_writer: Callable[[], bool],
    ) -> None:
        self._cluster = cluster
        self._group_id = group_id
        self._address = address
        self._elected = elected
        self._is_writer = is_writer
        self._member_id = ""
        self._generation = -1
        self._is_rebalancing = False

    async def run(self) -> None:
        while True:
            try:
                await self._join()
                await self._beat()
            except (ChannelError, KafkaError) as error:
                _log.info("group %s: %s", self._group_id, error)
                self._elected(None)
                await self._cluster.clock.sleep(_PAUSE_SECONDS)

    async def leave(self) -> None:
        """So that the others elect another writer at once."""
        if self._member_id:
            with suppress(ChannelError, KafkaError):
                await self.remove(self._member_id)
            self._member_id = ""

    async def remove(self, member_id: str) -> None:
        """Removes a member whose process is gone. Raises ChannelError or KafkaError."""
        request = LeaveGroupRequest(
            group_id=self._group_id, members=[MemberIdentity(member_id=member_id)]
        )
        await self._send(request)

    async def _join(self) -> None:
        own = msgspec.structs.asdict(self._address)
        metadata = msgspec.json.encode(_Member(**own, is_writer=self._is_writer()))
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=_SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
            member_id=self._member_id,
            protocol_type=_PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(name=_PROTOCOL, metadata=metadata)],
        )
        response = await self._send(request, timeout_ms=_JOIN_TIMEOUT_MS)
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = response.member_id
            await self._join()
            return
        self._check(response.error_code)
        self._member_id = response.member_id
        self._generation = response.generation_id
        assignments = self._assignments(response) if response.leader == self._member_id else []
        sync = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=self._generation,
            member_id=self._member_id,
            protocol_type=_PROTOCOL_TYPE,
            protocol_name=_PROTOCOL,
            assignments=assignments,
        )
        synced = await self._send(sync, timeout_ms=_JOIN_TIMEOUT_MS)
        self._check(synced.error_code)
        self._elected(self._writer_of(synced.assignment))

    def _assignments(self, response: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        members = {
            each.member_id: msgspec.json.decode(each.metadata, type=_Member)
            for each in response.members
        }
        eligible = {name: each for name, each in members.items() if each.master_eligibility}
        # Whoever is the writer stays it, so that an instance that joins interrupts nothing.
        chosen = min(
            eligible,
            key=lambda name: (
                not eligible[name].is_writer,
                eligible[name].host,
                eligible[name].port,
            ),
            default=None,
        )
        assignment = msgspec.json.encode(
            _Assignment(chosen, None if chosen is None else eligible[chosen])
        )
        return [
            SyncGroupRequestAssignment(member_id=name, assignment=assignment) for name in members
        ]

    def _writer_of(self, assignment: bytes) -> ElectedWriter | None:
        found = msgspec.json.decode(assignment, type=_Assignment) if assignment else None
        if found is None or found.master is None or found.master_identity is None:
            return None
        identity = found.master_identity
        return ElectedWriter(
            found.master,
            InstanceAddress(identity.host, identity.port, identity.scheme),
            found.master == self._member_id,
            self._generation,
        )

    async def _beat(self) -> None:
        """Returns when the group elects again."""
        while True:
            await self._cluster.clock.sleep(_HEARTBEAT_SECONDS)
            request = HeartbeatRequest(
                group_id=self._group_id,
                generation_id=self._generation,
                member_id=self._member_id,
            )
            response = await self._send(request)
            if response.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                return
            self._check(response.error_code)

    def _check(self, code: int) -> None:
        """Raises KafkaError."""
        if code == ErrorCode.NONE:
            return
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self._member_id = ""
        raise KafkaError(ErrorCode(code), "the group has changed")

    async def _send(self, request: Message, *, timeout_ms: int | None = None) -> Any:
        return await self._cluster.send_to_coordinator(
            CoordinatorKind.GROUP,
            self._group_id,
            request,
            lane=Lane.GROUP,
            timeout_ms=timeout_ms,
        )
