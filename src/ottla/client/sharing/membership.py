"""A member of a share group (KIP-932): heartbeats carry the assignment.

    joining (epoch 0) ──▶ stable
        ▲                   │
        └── fenced, or no poll for max.poll.interval.ms: left

Nothing has to be given up before others get it: several members may have one partition. So a new
assignment is used at once, and records of partitions that are no longer assigned can still be
acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, CoordinatorKind, Lane
from ottla.client.cluster.retries import final_error
from ottla.client.errors import ClientError, require
from ottla.client.groups.turns import ApplicationTurns
from ottla.client.sharing.properties import ShareConsumerSettings
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.wire.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

_log = logging.getLogger(__name__)

_FIRST_INTERVAL_MS: Final = 5_000
_JOINING: Final = 0
_LEAVING: Final = -1
# A coordinator that has just been elected may not know a group whose members have just joined.
_FENCED: Final = frozenset(
    {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}
)


class ShareMembership:
    """Started once, ended by `leave`. `on_assigned` is called when the partitions change, `fail`
    with an error that the next poll has to raise."""

    def __init__(
        self,
        cluster: ClientCluster,
        settings: ShareConsumerSettings,
        member_id: str,
        turns: ApplicationTurns,
        topics: frozenset[str],
        *,
        on_assigned: Callable[[], None],
        fail: Callable[[ClientError], None],
    ) -> None:
        self.topics = topics
        self._cluster = cluster
        self._settings = settings
        self._member_id = member_id
        self._turns = turns
        self._on_assigned = on_assigned
        self._fail = fail
        self._epoch = _JOINING
        self._interval_ms = _FIRST_INTERVAL_MS
        self._said: frozenset[str] | None = None
        # By topic id; replaced with each assignment.
        self.assignment: dict[Uuid, list[int]] = {}
        self._due = asyncio.Event()
        self._task: asyncio.Task[object] | None = None

    @property
    def epoch(self) -> int:
        return self._epoch

    def start(self) -> None:
        self._task = self._cluster.tasks.start("share group heartbeats", self._beat())

    def subscribe(self, topics: frozenset[str]) -> None:
        self.topics = topics
        self._due.set()

    async def leave(self) -> None:
        """Stops, and leaves the group."""
        if self._task is not None:
            self._task.cancel()
        await self._send_leave()

    # ----

    async def _beat(self) -> None:
        clock = self._cluster.clock
        failures = 0
        await self._turns.wait_poll()
        while True:
            if self._turns.idle_seconds * 1_000 > self._settings.max_poll_interval_ms:
                await self._poll_too_late()
            self._due.clear()
            try:
                await self._send_heartbeat()
                failures = 0
            except (ChannelError, KafkaError) as error:
                failures += 1
                self._said = None
                await self._recover(error, failures)
                continue
            timer = clock.call_later(self._interval_ms / 1_000, self._due.set)
            try:
                await self._due.wait()
            finally:
                timer.cancel()

    async def _send_heartbeat(self) -> None:
        group_id, topics = self._settings.group_id, self.topics
        is_full = self._epoch == _JOINING or self._said is None
        request = ShareGroupHeartbeatRequest(
            group_id=group_id,
            member_id=self._member_id,
            member_epoch=self._epoch,
            rack_id=self._settings.rack or None if is_full else None,
            subscribed_topic_names=sorted(topics) if is_full or topics != self._said else None,
        )
        response: ShareGroupHeartbeatResponse = await self._cluster.send_to_coordinator(
            CoordinatorKind.GROUP, group_id, request, lane=Lane.GROUP
        )
        code = response.error_code
        if code in _FENCED and self._epoch != _JOINING:
            _log.info("share group %s: %s; joining again", group_id, ErrorCode(code).name)
            self._lose()
            self._due.set()
            return
        require(code, f"heartbeat of share group {group_id}", response.error_message)
        if request.member_epoch != self._epoch:
            # Left meanwhile.
            return
        self._said = topics
        self._epoch = response.member_epoch
        self._interval_ms = response.heartbeat_interval_ms or self._interval_ms
        if response.assignment is not None:
            self._assign(response.assignment)

    def _assign(self, assignment: Assignment) -> None:
        self.assignment = {
            Uuid(bytes(topic.topic_id)): list(topic.partitions)
            for topic in assignment.topic_partitions
        }
        self._on_assigned()

    async def _recover(self, error: ChannelError | KafkaError, failures: int) -> None:
        group_id = self._settings.group_id
        _log.debug("share group %s: %s", group_id, error)
        final = final_error(error, f"heartbeat of share group {group_id}")
        if final is not None:
            self._fail(final)
            self._lose()
        await self._cluster.clock.sleep(self._cluster.backoff(failures))
        if final is not None:
            await self._turns.wait_poll()

    async def _poll_too_late(self) -> None:
        _log.warning(
            "share group %s: the application has not polled for %d ms, so this member leaves. "
            "Process fewer records per poll (max.poll.records), or raise max.poll.interval.ms",
            self._settings.group_id,
            self._settings.max_poll_interval_ms,
        )
        await self._send_leave()
        self._lose()
        await self._turns.wait_poll()

    async def _send_leave(self) -> None:
        if self._epoch <= _JOINING:
            return
        self._epoch = _LEAVING
        request = ShareGroupHeartbeatRequest(
            group_id=self._settings.group_id, member_id=self._member_id, member_epoch=_LEAVING
        )
        try:
            await self._cluster.send_to_coordinator(
                CoordinatorKind.GROUP, self._settings.group_id, request, lane=Lane.GROUP
            )
        except (ChannelError, KafkaError) as error:
            # The coordinator removes the member when its session times out.
            _log.debug("share group %s: cannot leave: %s", self._settings.group_id, error)

    def _lose(self) -> None:
        """Joins again."""
        self._epoch = _JOINING
        self._said = None
        self.assignment = {}
        self._on_assigned()
