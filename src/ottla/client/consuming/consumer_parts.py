"""The parts of a consumer, connected; what a consumer does that concerns several of them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, within
from ottla.client.consuming.assigned_partition import AssignedPartition
from ottla.client.consuming.assignment import PartitionAssignment
from ottla.client.consuming.fetch_responses import FetchResponses
from ottla.client.consuming.fetcher import RecordFetcher
from ottla.client.consuming.group_partitions import GroupPartitions
from ottla.client.consuming.metrics import ConsumerMetrics
from ottla.client.consuming.offset_lookup import OffsetLookup
from ottla.client.consuming.position_commits import PositionCommits
from ottla.client.consuming.positioning import Positioning
from ottla.client.consuming.prefetch_budget import PrefetchBudget
from ottla.client.consuming.properties import READ_COMMITTED, ConsumerSettings
from ottla.client.consuming.reading import RecordReading
from ottla.client.consuming.rebalance_callbacks import RebalanceCallbacks
from ottla.client.errors import (
    IllegalStateError,
    TimedOutError,
)
from ottla.client.groups.classic.member import ClassicMembership
from ottla.client.groups.consumer.member import ConsumerMembership
from ottla.client.groups.group_subscription import GroupSubscription, TopicPattern
from ottla.client.groups.offsets import OffsetsOfGroup
from ottla.client.records import ConsumerGroupMetadata, OffsetAndMetadata
from ottla.model import ErrorCode, KafkaError, TopicPartition

_log = logging.getLogger(__name__)

# Of the time to close, what is kept for leaving the group.
_LEAVING_SHARE: Final = 0.2
_LEAVING_SECONDS_MAX: Final = 1.0


class ConsumerParts:
    """Owned by a consumer, and by the event loop that first uses it."""

    def __init__(self, cluster: ClientCluster, settings: ConsumerSettings) -> None:
        self.assignment = PartitionAssignment()
        self._metrics = metrics = ConsumerMetrics()
        self._cluster = cluster
        self._settings = settings
        self._member: ClassicMembership | ConsumerMembership | None = None
        self._subscription: GroupSubscription | None = None
        self._changed: asyncio.Future[None] | None = None
        self._refreshing: asyncio.Task[object] | None = None
        self._is_closing = False
        self.reading = RecordReading(
            cluster.clock,
            self.assignment,
            metrics=metrics,
            records_max=settings.max_poll_records,
            on_poll=self._polled,
            on_taken=self._fetch_soon,
        )
        self.group: OffsetsOfGroup | None = None
        if settings.member is not None:
            self.group = OffsetsOfGroup(
                cluster, self.identity, self.assignment.get, self._member_fenced
            )
        self.commits = PositionCommits(
            cluster,
            self.assignment,
            self.group,
            interval_ms=settings.auto_commit_interval_ms,
            timeout_ms=settings.api_timeout_ms,
        )
        self.lookup = OffsetLookup(cluster, isolation=settings.isolation)
        self._positioning = Positioning(
            cluster,
            self.assignment,
            self.lookup,
            settings.reset,
            committed=None if self.group is None else self._committed,
            on_position=self._positioned,
            fail=self.reading.fail,
        )
        self._budget = budget = PrefetchBudget(settings.prefetch_bytes_max, self._fetch_soon)
        responses = FetchResponses(
            cluster,
            settings,
            self.assignment,
            budget,
            metrics,
            on_records=self.reading.wake,
            start_reset=self._positioning.start_reset,
            fail=self.reading.fail,
        )
        self._fetcher = RecordFetcher(cluster, settings, self.assignment, budget, responses)
        self._owner = GroupPartitions(
            self.assignment,
            metrics,
            commit=self.commits.commit_before_revocation,
            on_change=self._assignment_changed,
            fail=self.reading.fail,
        )
        cluster.on_metadata(self._metadata_changed)

    # ---- groups

    def identity(self) -> ConsumerGroupMetadata:
        if self._member is not None:
            return self._member.identity
        member = self._settings.member
        if member is None:
            raise IllegalStateError("this consumer has no group.id")
        return ConsumerGroupMetadata(member.group_id, group_instance_id=member.instance_id)

    def require_group(self) -> OffsetsOfGroup:
        if self.group is None:
            raise IllegalStateError("committing offsets needs a group.id")
        return self.group

    async def subscribe(
        self,
        topics: frozenset[str],
        pattern: str | TopicPattern | None,
        callbacks: RebalanceCallbacks,
    ) -> None:
        if self._settings.member is None:
            raise IllegalStateError(
                "subscribe needs a group.id; use assign to read without a group"
            )
        if self._member is None and len(self.assignment):
            raise IllegalStateError("partitions were assigned by hand; call unsubscribe first")
        if bool(topics) == (pattern is not None):
            raise ValueError("subscribe takes either topics or a pattern")
        self._stop_refreshing()
        subscription = self._made_subscription(topics, pattern)
        self._owner.callbacks = callbacks
        self._subscription = subscription
        self._cluster.watch_topics(topics)
        if self._member is not None:
            self._member.subscribe(subscription)
            return
        member_class = (
            ConsumerMembership if self._settings.is_consumer_protocol else ClassicMembership
        )
        self._member = member_class(
            self._cluster, self._settings.member, self._owner, self.reading.turns, subscription
        )
        self._member.start()

    def _made_subscription(
        self, topics: frozenset[str], pattern: str | TopicPattern | None
    ) -> GroupSubscription:
        if isinstance(pattern, str) and self._settings.is_consumer_protocol:
            return GroupSubscription(broker_regex=pattern)
        if isinstance(pattern, str):
            pattern = re.compile(pattern)
        if pattern is not None:
            self._refreshing = self._cluster.tasks.start(
                "topics of the pattern", self._refresh_all()
            )
        return GroupSubscription(
            topics, pattern, includes_internal=not self._settings.excludes_internal
        )

    def subscribed_topics(self) -> frozenset[str]:
        if self._subscription is None:
            return frozenset()
        if self._subscription.broker_regex is not None:
            return frozenset(name.topic for name in self.assignment.names)
        return self._subscription.resolve(self._cluster.metadata)

    async def unsubscribe(self) -> None:
        self.reading.settle()
        member = self._member
        if member is None:
            self.assignment.remove(self.assignment.names)
            return
        try:
            await self._owner.revoke(self.assignment.names)
        finally:
            self._stop_refreshing()
            await member.leave("the consumer unsubscribed from all topics")
            self._member = self._subscription = None
            self._cluster.watch_topics(())

    def assign(self, names: frozenset[TopicPartition]) -> None:
        if self._member is not None:
            raise IllegalStateError("the consumer has subscribed to topics; call unsubscribe first")
        self.reading.settle()
        self.assignment.remove(self.assignment.names - names)
        self.assignment.add(names)
        self._cluster.watch_topics({name.topic for name in names})
        self._assignment_changed()

    async def close(self, timeout: float) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        clock = self._cluster.clock
        deadline = clock.monotonic() + timeout
        self.reading.settle()
        self.reading.is_closed = True
        self.reading.wake()
        reserved = min(timeout * _LEAVING_SHARE, _LEAVING_SECONDS_MAX)
        try:
            await self._within(deadline - reserved, self._give_up())
        finally:
            self.assignment.remove(self.assignment.names)
            try:
                await self._within(deadline, self._leave())
            finally:
                await self._cluster.close()

    async def _within(self, deadline: float, step: Awaitable[object]) -> None:
        try:
            await within(self._cluster.clock, deadline, step, what="closing the consumer")
        except TimedOutError as error:
            _log.warning("%s", error)

    async def _give_up(self) -> None:
        names = self.assignment.names
        if self._member is None:
            await self.commits.commit_before_revocation(names)
        else:
            await self._owner.revoke(names)

    async def _leave(self) -> None:
        """Not waited for beyond the timeout, but always sent."""
        leaving = [self._fetcher.end_sessions()]
        if self._member is not None:
            leaving.append(self._member.leave("the consumer is being closed"))
        await asyncio.gather(*leaving)

    # ---- positions

    def move(
        self, names: Iterable[TopicPartition], change: Callable[[AssignedPartition], None]
    ) -> None:
        self.reading.settle()
        for partition in [self.assignment.require(name) for name in names]:
            change(partition)
        self._positioning.wake()

    def pause(self, names: Iterable[TopicPartition], *, is_paused: bool) -> None:
        self.reading.settle()
        for partition in [self.assignment.require(name) for name in names]:
            partition.is_paused = is_paused
        self._fetch_soon()
        self.reading.wake()

    async def position(self, name: TopicPartition, deadline: float) -> int:
        self.reading.settle()
        self.assignment.require(name).is_awaited = True
        self._positioning.wake()

        async def known() -> int:
            while (position := self.assignment.require(name).position) is None:
                self._changed = self._changed or asyncio.get_running_loop().create_future()
                await asyncio.shield(self._changed)
            return position.offset

        what = f"waiting for the position of {name}"
        return await within(self._cluster.clock, deadline, known(), what=what)

    def lag(self, name: TopicPartition) -> int | None:
        partition = self.assignment.require(name)
        is_committed = self._settings.isolation == READ_COMMITTED
        end = partition.last_stable_offset if is_committed else partition.high_watermark
        position = partition.position
        return None if end is None or position is None else max(end - position.offset, 0)

    def metrics(self) -> dict[str, float]:
        lags = [lag for name in self.assignment.names if (lag := self.lag(name)) is not None]
        return {
            **self._metrics.values(),
            "assigned-partitions": len(self.assignment),
            "records-lag-max": max(lags, default=0),
            "prefetched-bytes": self._budget.used,
        }

    # ---- topics

    async def partitions_for(self, topic: str, deadline: float) -> tuple[TopicPartition, ...]:
        async def attempt() -> tuple[TopicPartition, ...]:
            metadata = await self._cluster.refresh((topic,))
            error = metadata.errors.get(topic)
            if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return ()
            if error is not None:
                raise KafkaError(error, topic)
            partitions = metadata.topics[topic].partitions
            return tuple(TopicPartition(topic, index) for index in range(len(partitions)))

        what = f"looking for topic {topic}"
        return await self._cluster.retrying(what, attempt, deadline=deadline)

    async def topics(self, deadline: float) -> frozenset[str]:
        async def attempt() -> frozenset[str]:
            return frozenset((await self._cluster.refresh(None)).topics)

        return await self._cluster.retrying("listing topics", attempt, deadline=deadline)

    # ---- events

    def _polled(self) -> None:
        self.commits.maybe_commit()

    def _fetch_soon(self) -> None:
        self._fetcher.pump_soon()

    def _positioned(self) -> None:
        changed, self._changed = self._changed, None
        if changed is not None:
            changed.set_result(None)
        self._fetcher.pump()
        self.reading.wake()

    def _assignment_changed(self) -> None:
        self._positioned_later()

    def _positioned_later(self) -> None:
        self._positioning.wake()
        self._fetch_soon()

    def _metadata_changed(self) -> None:
        for partition in self.assignment:
            leader = self._cluster.leader(partition.name)
            if leader is not None:
                partition.note_leader_epoch(leader.epoch)
        self._positioned_later()
        if self._member is not None:
            self._member.note_metadata()

    def _member_fenced(self, code: ErrorCode, sent_by: ConsumerGroupMetadata) -> None:
        if self._member is not None:
            self._member.fenced(code, sent_by)

    async def _committed(
        self, names: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        deadline = self._cluster.clock.monotonic() + self._settings.api_timeout_ms / 1_000
        return await self.require_group().committed(names, deadline=deadline)

    async def _refresh_all(self) -> None:
        """Keeps the topics fresh among which a pattern chooses."""
        while True:
            try:
                await self._cluster.refresh(None)
            except (ChannelError, KafkaError) as error:
                _log.debug("cannot refresh metadata: %s", error)
            await self._cluster.clock.sleep(self._cluster.settings.metadata_max_age_ms / 1_000)

    def _stop_refreshing(self) -> None:
        refreshing, self._refreshing = self._refreshing, None
        if refreshing is not None:
            refreshing.cancel()
