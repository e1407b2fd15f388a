"""A member of a group of the classic protocol.

    unjoined ──JoinGroup──▶ joining ──SyncGroup──▶ assigned ──heartbeats──▶ assigned
       ▲                       ▲                      │
       │                       └──── rebalance ───────┤
       └─ partitions lost ◀── fenced, or no poll ─────┘

With an eager assignor, all partitions are revoked before the member joins again; with a cooperative
one, only those that go to another member, after the new assignment is known. Then it joins once
more, so that the partitions can be given away (KIP-429).
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, CoordinatorKind, Lane
from ottla.client.cluster.retries import final_error, public_error
from ottla.client.errors import error_for, require
from ottla.client.groups.assignors import ClassicAssignor, MemberSubscription
from ottla.client.groups.classic.leader import GroupLeader
from ottla.client.groups.classic.protocol_bytes import (
    PROTOCOL_TYPE,
    decode_assignment,
    encode_subscription,
)
from ottla.client.groups.group_subscription import GroupSubscription
from ottla.client.groups.member_settings import MemberSettings
from ottla.client.groups.owner import PartitionOwner
from ottla.client.groups.turns import ApplicationTurns
from ottla.client.records import ConsumerGroupMetadata
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_log = logging.getLogger(__name__)

_NO_GENERATION: Final = -1
# The coordinator answers a JoinGroup when all members have joined, or their time is over.
_JOIN_MARGIN_MS: Final = 5_000
# The member joins again, as if it were new.
_FENCED: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})
_PASSING: Final = frozenset({*_FENCED, ErrorCode.REBALANCE_IN_PROGRESS})


class ClassicMembership:
    """Started once, ended by `leave`. Belongs to a consumer, whose partitions it decides about."""

    def __init__(
        self,
        cluster: ClientCluster,
        settings: MemberSettings,
        owner: PartitionOwner,
        turns: ApplicationTurns,
        subscription: GroupSubscription,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._owner = owner
        self._turns = turns
        self._subscription = subscription
        self._leader = GroupLeader(cluster)
        self._member_id = ""
        self._generation = _NO_GENERATION
        self._topics: frozenset[str] = frozenset()
        # Whether the partitions of the last generation may have another owner.
        self._is_lost = False
        self._rejoin = asyncio.Event()
        self._is_leader = False
        # The group's protocol: the assignor that the coordinator has chosen.
        self._assignor: ClassicAssignor = settings.assignors[0]
        self._task: asyncio.Task[object] | None = None
        self._beating: asyncio.Task[object] | None = None

    @property
    def identity(self) -> ConsumerGroupMetadata:
        settings = self._settings
        return ConsumerGroupMetadata(
            settings.group_id, self._generation, self._member_id, settings.instance_id
        )

    def start(self) -> None:
        self._task = self._cluster.tasks.start("group member", self._run())

    def subscribe(self, subscription: GroupSubscription) -> None:
        """Joins again with another subscription."""
        self._subscription = subscription
        self._rejoin.set()

    def rejoin(self) -> None:
        self._rejoin.set()

    def note_metadata(self) -> None:
        """Joins again if the subscription matches other topics, or the group's topics have more
        partitions than were assigned."""
        if self._generation == _NO_GENERATION:
            return
        if self._subscription.resolve(self._cluster.metadata) != self._topics or (
            self._is_leader and self._leader.is_outdated()
        ):
            self._rejoin.set()

    def fenced(self, code: ErrorCode, sent_by: ConsumerGroupMetadata) -> None:
        """The coordinator refused a request of this member."""
        if sent_by.generation_id != self._generation or sent_by.member_id != self._member_id:
            return
        _log.info("group %s: %s; joining again", self._settings.group_id, code.name)
        if code is not ErrorCode.ILLEGAL_GENERATION:
            self._member_id = ""
        self._forget_generation()

    async def leave(self, reason: str) -> None:
        """Stops, and leaves the group unless the member is static, which may come back."""
        for task in (self._task, self._beating):
            if task is not None:
                task.cancel()
        await self._send_leave(reason)

    # ----

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                await self._prepare()
                joined = await self._join()
                assignment = await self._sync(joined)
                failures = 0
                await self._take(assignment, joined.generation_id)
                await self._rejoin.wait()
            except (ChannelError, KafkaError, ProtocolError) as error:
                failures += 1
                await self._recover(error, failures)

    async def _recover(
        self, error: ChannelError | KafkaError | ProtocolError, failures: int
    ) -> None:
        group_id = self._settings.group_id
        _log.debug("group %s: %s", group_id, error)
        if isinstance(error, ProtocolError):
            self._owner.fail(error_for(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)))
        elif isinstance(error, KafkaError) and error.code is ErrorCode.MEMBER_ID_REQUIRED:
            return
        elif isinstance(error, ChannelError) or error.code not in _PASSING:
            final = final_error(error, f"joining group {group_id}")
            if final is not None:
                self._owner.fail(final)
        await self._cluster.clock.sleep(self._cluster.backoff(failures))

    async def _prepare(self) -> None:
        """Gives up what cannot be kept in the next generation."""
        await self._turns.wait_poll()
        self._rejoin.clear()
        if self._subscription.pattern is not None and not self._topics:
            await self._cluster.refresh(None)
        self._topics = self._subscription.resolve(self._cluster.metadata)
        if self._given_up():
            await self._turns.run(self._give_up)

    def _given_up(self) -> frozenset[TopicPartition]:
        owned = self._owner.owned
        if self._is_lost or not self._assignor.is_cooperative:
            return owned
        return frozenset(each for each in owned if each.topic not in self._topics)

    async def _give_up(self) -> None:
        given_up = self._given_up()
        if self._is_lost:
            self._is_lost = False
            await self._owner.lose(given_up)
        else:
            await self._owner.revoke(given_up)

    async def _join(self) -> JoinGroupResponse:
        self._stop_beating()
        settings = self._settings
        subscription = MemberSubscription(
            self._topics,
            self._owner.owned,
            self._generation,
            rack_id=settings.rack_id,
        )
        request = JoinGroupRequest(
            group_id=settings.group_id,
            session_timeout_ms=settings.session_timeout_ms,
            rebalance_timeout_ms=settings.max_poll_interval_ms,
            member_id=self._member_id,
            group_instance_id=settings.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[
                JoinGroupRequestProtocol(
                    name=assignor.name, metadata=encode_subscription(subscription)
                )
                for assignor in settings.assignors
            ],
            reason="",
        )
        timeout_ms = max(
            settings.max_poll_interval_ms + _JOIN_MARGIN_MS,
            self._cluster.settings.request_timeout_ms,
        )
        sent_by = self.identity
        response: JoinGroupResponse = await self._send(request, timeout_ms=timeout_ms)
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = response.member_id
        self._check(response.error_code, sent_by, "joining")
        self._member_id, self._generation = response.member_id, response.generation_id
        self._assignor = next(
            (each for each in settings.assignors if each.name == response.protocol_name),
            self._assignor,
        )
        return response

    async def _sync(self, joined: JoinGroupResponse) -> frozenset[TopicPartition]:
        self._is_leader = joined.leader == joined.member_id
        request = SyncGroupRequest(
            group_id=self._settings.group_id,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id=self._settings.instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=joined.protocol_name,
        )
        if self._is_leader:
            request.assignments = await self._leader.assign(
                joined, self._assignor, watched=self._topics
            )
        response: SyncGroupResponse = await self._send(
            request, timeout_ms=self._settings.max_poll_interval_ms + _JOIN_MARGIN_MS
        )
        self._check(response.error_code, self.identity, "joining")
        self._beating = self._cluster.tasks.start("group heartbeats", self._beat())
        return decode_assignment(response.assignment)

    async def _take(self, assigned: frozenset[TopicPartition], generation: int) -> None:
        """Makes the assignment the consumer's, in the application's turn."""

        async def step() -> None:
            owned = self._owner.owned
            if self._generation != generation:
                return
            if removed := owned - assigned:
                # Only after this can another member get them.
                self._rejoin.set()
                await self._owner.revoke(removed)
            if self._generation == generation:
                await self._owner.assign(assigned - owned)

        await self._turns.run(step)

    async def _beat(self) -> None:
        """Heartbeats of one generation, also while a rebalance waits for the application."""
        settings, clock = self._settings, self._cluster.clock
        while self._generation != _NO_GENERATION:
            await clock.sleep(settings.heartbeat_interval_ms / 1_000)
            if self._turns.idle_seconds * 1_000 > settings.max_poll_interval_ms:
                await self._poll_too_late()
                return
            sent_by = self.identity
            request = HeartbeatRequest(
                group_id=settings.group_id,
                generation_id=sent_by.generation_id,
                member_id=sent_by.member_id,
                group_instance_id=settings.instance_id,
            )
            try:
                response: HeartbeatResponse = await self._send(
                    request, timeout_ms=settings.session_timeout_ms
                )
                if response.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                    self._rejoin.set()
                else:
                    self._check(response.error_code, sent_by, "heartbeat")
            except (ChannelError, KafkaError) as error:
                if isinstance(error, KafkaError) and not error.retriable:
                    if error.code not in _FENCED:
                        self._owner.fail(public_error(error, "heartbeat"))
                        self._forget_generation()
                    return
                _log.debug("group %s: %s", settings.group_id, error)

    async def _poll_too_late(self) -> None:
        _log.warning(
            "group %s: the application has not polled for %d ms, so this member leaves. Process "
            "fewer records per poll (max.poll.records), or raise max.poll.interval.ms",
            self._settings.group_id,
            self._settings.max_poll_interval_ms,
        )
        await self._send_leave("consumer poll timeout has expired.")
        self._forget_generation()

    async def _send_leave(self, reason: str) -> None:
        if not self._member_id or self._settings.instance_id is not None:
            return
        member_id, self._member_id = self._member_id, ""
        request = LeaveGroupRequest(
            group_id=self._settings.group_id,
            member_id=member_id,
            members=[MemberIdentity(member_id=member_id, reason=reason)],
        )
        try:
            await self._send(request, timeout_ms=self._cluster.settings.request_timeout_ms)
        except (ChannelError, KafkaError) as error:
            # The coordinator removes the member when its session times out.
            _log.debug("group %s: cannot leave: %s", self._settings.group_id, error)

    def _forget_generation(self) -> None:
        self._generation = _NO_GENERATION
        self._is_lost = bool(self._owner.owned)
        self._rejoin.set()

    def _stop_beating(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None

    def _check(self, code: int, sent_by: ConsumerGroupMetadata, what: str) -> None:
        if code in _FENCED:
            self.fenced(ErrorCode(code), sent_by)
        require(code, f"{what} in group {self._settings.group_id}")

    async def _send(self, request: Any, *, timeout_ms: int) -> Any:
        return await self._cluster.send_to_coordinator(
            CoordinatorKind.GROUP,
            self._settings.group_id,
            request,
            lane=Lane.GROUP,
            timeout_ms=timeout_ms,
        )
