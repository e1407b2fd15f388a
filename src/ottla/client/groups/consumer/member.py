"""A member of a group of the consumer protocol (KIP-848).

    joining (epoch 0) ──▶ stable ◀──▶ reconciling: revoke, then assign, then acknowledge
        ▲                   │
        └─ partitions lost ◀┴── fenced, or no poll: left

The coordinator assigns; this side makes the assignment its own in the application's turns, while
heartbeats go on. The next heartbeat acknowledges what the member no longer owns, and the
coordinator gives it to another.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, CoordinatorKind, Lane
from ottla.client.cluster.retries import final_error
from ottla.client.errors import require
from ottla.client.groups.consumer.heartbeat_state import (
    LEAVING_EPOCH,
    HeartbeatState,
    SubscribedTo,
)
from ottla.client.groups.group_subscription import GroupSubscription
from ottla.client.groups.member_settings import MemberSettings
from ottla.client.groups.owner import PartitionOwner
from ottla.client.groups.turns import ApplicationTurns
from ottla.client.records import ConsumerGroupMetadata
from ottla.model import ErrorCode, KafkaError, TopicPartition, Uuid, uuid_to_text
from ottla.wire.apis import ApiKey
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

_log = logging.getLogger(__name__)

_FIRST_INTERVAL_MS: Final = 5_000
# The first version with ids of members' own making, and with regular expressions.
_OWN_IDS_VERSION: Final = 1
_FENCED: Final = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID})
_FENCING: Final = frozenset({*_FENCED, ErrorCode.ILLEGAL_GENERATION})


class ConsumerMembership:
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
        self._state = HeartbeatState(settings, uuid_to_text(cluster.dice.uuid()))
        self._interval_ms = _FIRST_INTERVAL_MS
        # What the coordinator assigned last, by topic id; None before the first assignment.
        self._target: dict[Uuid, frozenset[int]] | None = None
        # The ids of the topics of owned partitions, under which they were assigned.
        self._topic_ids: dict[str, Uuid] = {}
        self._is_lost = False
        # Wakes the heartbeats, and the reconciliation.
        self._due = asyncio.Event()
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[object]] = []

    @property
    def identity(self) -> ConsumerGroupMetadata:
        settings = self._settings
        epoch = self._state.epoch if self._state.is_joined else -1
        return ConsumerGroupMetadata(
            settings.group_id, epoch, self._state.member_id, settings.instance_id
        )

    def start(self) -> None:
        self._tasks = [
            self._cluster.tasks.start("group heartbeats", self._beat()),
            self._cluster.tasks.start("group assignment", self._reconcile()),
        ]

    def subscribe(self, subscription: GroupSubscription) -> None:
        self._subscription = subscription
        self._due.set()

    def rejoin(self) -> None:
        """Sends a heartbeat now: in this protocol, the coordinator decides when to rebalance."""
        self._due.set()

    def note_metadata(self) -> None:
        """The pattern may match other topics, and the names of assigned topics may be known."""
        if self._subscription.pattern is not None:
            self._due.set()
        self._changed.set()

    def fenced(self, code: ErrorCode, sent_by: ConsumerGroupMetadata) -> None:
        """The coordinator refused a request of this member."""
        if code not in _FENCING or sent_by.generation_id != self.identity.generation_id:
            return
        _log.info("group %s: %s; joining again", self._settings.group_id, code.name)
        self._lose()

    async def leave(self, reason: str) -> None:  # noqa: ARG002 - the protocol has no reasons
        """Stops, and leaves the group."""
        for task in self._tasks:
            task.cancel()
        await self._send_leave()

    # ---- heartbeats

    async def _beat(self) -> None:
        clock = self._cluster.clock
        failures = 0
        await self._turns.wait_poll()
        while True:
            while self._is_lost:
                # Rejoins only when the application has given the partitions up.
                await self._due.wait()
                self._due.clear()
            if self._turns.idle_seconds * 1_000 > self._settings.max_poll_interval_ms:
                await self._poll_too_late()
            self._due.clear()
            try:
                await self._send_heartbeat()
                failures = 0
            except (ChannelError, KafkaError) as error:
                failures += 1
                self._state.failed()
                await self._recover(error, failures)
                continue
            timer = clock.call_later(self._interval_ms / 1_000, self._due.set)
            try:
                await self._due.wait()
            finally:
                timer.cancel()

    async def _send_heartbeat(self) -> None:
        cluster, subscription = self._cluster, self._subscription
        if subscription.pattern is not None and not cluster.metadata.topics:
            await cluster.refresh(None)
        topics = subscription.resolve(cluster.metadata)
        if subscription.broker_regex is not None:
            await self._require_regex()
        owned = self._owner.owned
        request = self._state.request(
            SubscribedTo(topics, subscription.broker_regex), owned, self._topic_ids
        )
        sent_by = self.identity
        response: ConsumerGroupHeartbeatResponse = await cluster.send_to_coordinator(
            CoordinatorKind.GROUP, self._settings.group_id, request, lane=Lane.GROUP
        )
        if response.error_code in _FENCED:
            self.fenced(ErrorCode(response.error_code), sent_by)
            return
        require(
            response.error_code,
            f"heartbeat of group {self._settings.group_id}",
            response.error_message,
        )
        if request.member_epoch != max(sent_by.generation_id, 0) or self.identity != sent_by:
            # Fenced or left meanwhile.
            return
        if response.member_id and not self._state.is_joined:
            self._state.member_id = response.member_id
        self._state.answered(response.member_epoch)
        self._interval_ms = response.heartbeat_interval_ms or self._interval_ms
        if response.assignment is not None:
            self._target = {
                Uuid(bytes(each.topic_id)): frozenset(each.partitions)
                for each in response.assignment.topic_partitions
            }
            self._changed.set()

    async def _require_regex(self) -> None:
        """Raises KafkaError if the coordinator cannot match topics itself."""
        node = await self._cluster.coordinator(CoordinatorKind.GROUP, self._settings.group_id)
        await self._cluster.connect(node, lane=Lane.GROUP)
        versions = self._cluster.supports(node, ApiKey.CONSUMER_GROUP_HEARTBEAT)
        if versions is None or _OWN_IDS_VERSION not in versions:
            require(
                ErrorCode.UNSUPPORTED_VERSION,
                "this cluster cannot subscribe by regular expression; pass re.compile(...), which "
                "this client matches itself",
            )

    async def _recover(self, error: ChannelError | KafkaError, failures: int) -> None:
        group_id = self._settings.group_id
        _log.debug("group %s: %s", group_id, error)
        final = final_error(error, f"heartbeat of group {group_id}")
        if final is not None:
            # Raised by the next poll; a member that was refused has no partitions.
            self._owner.fail(final)
            if isinstance(error, KafkaError) and (
                error.code is not ErrorCode.TOPIC_AUTHORIZATION_FAILED
            ):
                self._lose()
        await self._cluster.clock.sleep(self._cluster.backoff(failures))
        if final is not None:
            await self._turns.wait_poll()

    async def _poll_too_late(self) -> None:
        _log.warning(
            "group %s: the application has not polled for %d ms, so this member leaves. Process "
            "fewer records per poll (max.poll.records), or raise max.poll.interval.ms",
            self._settings.group_id,
            self._settings.max_poll_interval_ms,
        )
        await self._send_leave()
        self._lose()
        await self._turns.wait_poll()

    async def _send_leave(self) -> None:
        if not self._state.is_joined:
            return
        request = self._state.leave()
        self._state.epoch = LEAVING_EPOCH
        try:
            await self._cluster.send_to_coordinator(
                CoordinatorKind.GROUP, self._settings.group_id, request, lane=Lane.GROUP
            )
        except (ChannelError, KafkaError) as error:
            # The coordinator removes the member when its session times out.
            _log.debug("group %s: cannot leave: %s", self._settings.group_id, error)

    # ---- the assignment

    async def _reconcile(self) -> None:
        failures = 0
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._is_lost:
                await self._turns.run(self._give_up_lost)
                self._due.set()
            try:
                target = await self._resolved()
            except (ChannelError, KafkaError) as error:
                failures += 1
                _log.debug("group %s: %s", self._settings.group_id, error)
                await self._cluster.clock.sleep(self._cluster.backoff(failures))
                self._changed.set()
                continue
            failures = 0
            if target is not None and target != self._owner.owned:
                await self._turns.run(lambda target=target: self._take(target))  # type: ignore[misc]
                # Acknowledges at once.
                self._due.set()
                self._changed.set()

    async def _take(self, target: frozenset[TopicPartition]) -> None:
        """Makes the target the consumer's, in the application's turn."""
        epoch = self._state.epoch
        owned = self._owner.owned
        if self._is_lost:
            return
        await self._owner.revoke(owned - target)
        if not self._is_lost and self._state.is_joined and epoch <= self._state.epoch:
            await self._owner.assign(target - owned)

    async def _give_up_lost(self) -> None:
        self._is_lost = False
        await self._owner.lose(self._owner.owned)

    async def _resolved(self) -> frozenset[TopicPartition] | None:
        """The target with the names of its topics; those without a name yet are left out."""
        target = self._target
        if target is None:
            return None
        if any(topic_id not in self._cluster.metadata.topic_names for topic_id in target):
            everything = self._subscription.broker_regex is not None
            await self._cluster.refresh(None if everything else self._subscription.topics)
        names = self._cluster.metadata.topic_names
        found = set()
        for topic_id, indexes in target.items():
            if (name := names.get(topic_id)) is not None:
                self._topic_ids[name] = topic_id
                found |= {TopicPartition(name, index) for index in indexes}
            else:
                # The node's metadata may not have the topic yet.
                self._cluster.clock.call_later(self._cluster.backoff(1), self._changed.set)
        return frozenset(found)

    def _lose(self) -> None:
        """Joins again; the partitions may have another owner already."""
        self._state.fenced()
        self._target = None
        if self._owner.owned:
            self._is_lost = True
        self._changed.set()
        self._due.set()
