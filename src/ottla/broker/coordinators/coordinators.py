"""The coordinators of a node: which internal topics they keep their state in, and their chores.

Their state machines are loaded with the first partition of such a topic, as a node that serves no
groups starts without them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.transaction_coordinators import TransactionCoordinators
from ottla.metadata import MetadataDelta
from ottla.model.internal_topics import CONSUMER_OFFSETS
from ottla.replication.partition import Partition
from ottla.runtime.background import Background
from ottla.wire.records import Codec

if TYPE_CHECKING:
    from ottla.broker.broker import Broker
    from ottla.coordinator.groups.consumer.topic_regexes import TopicRegexes
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.runtime.outcome import Outcome
    from ottla.coordinator.runtime.state_machine import Timers

_STEP_SECONDS: Final = 0.002
_JITTER: Final = 0.1


class Coordinators:
    """Made with the broker, which tells it what the metadata says. Its tasks are the node's."""

    def __init__(self, broker: Broker, background: Background) -> None:
        self._broker = broker
        # Shared by the coordinators of all partitions, made with the first.
        self._topic_regexes: TopicRegexes | None = None
        config = broker.config
        self.groups: CoordinatorShards[GroupCoordinator] = CoordinatorShards(
            broker,
            background,
            CONSUMER_OFFSETS,
            self._make_group_coordinator,
            write_timeout_ms=config.offsets_commit_timeout_ms,
            load_bytes=config.offsets_load_buffer_size,
            codec=Codec(config.offsets_topic_compression_codec),
        )
        self._transaction_coordinators = TransactionCoordinators(broker, background)
        self.transactions = self._transaction_coordinators.shards
        self._by_topic: dict[str, CoordinatorShards[Any]] = {
            shards.topic: shards for shards in (self.groups, self.transactions)
        }

    def _make_group_coordinator(
        self,
        partition: Partition,  # noqa: ARG002 - every coordinator's signature
        timers: Timers,
    ) -> GroupCoordinator:
        from ottla.coordinator.groups.consumer.topic_regexes import TopicRegexes
        from ottla.coordinator.groups.context import GroupContext
        from ottla.coordinator.groups.coordinator import GroupCoordinator
        from ottla.coordinator.groups.groups import Groups
        from ottla.coordinator.groups.settings import GroupSettings
        from ottla.coordinator.offsets.offsets import Offsets

        broker = self._broker
        if self._topic_regexes is None:
            self._topic_regexes = TopicRegexes(broker.clock, lambda: broker.image.topics.by_name)
        return GroupCoordinator(
            GroupContext(
                Groups(),
                Offsets(),
                timers,
                broker.clock,
                broker.dice,
                self._topic_regexes,
                lambda: GroupSettings(broker.config.values),
                lambda: broker.image,
            )
        )

    def follow(self, partition: Partition) -> None:
        """A partition is led here from now on, or not any more."""
        shards = self._by_topic.get(partition.name.topic)
        if shards is not None:
            shards.follow(partition)

    def forget(self, partition: Partition) -> None:
        """A partition is no longer on this node, or its disk has failed."""
        shards = self._by_topic.get(partition.name.topic)
        if shards is not None:
            shards.forget(partition)

    def apply(self, delta: MetadataDelta) -> None:
        """Offsets go with the topics that they are in; new partitions are assigned; markers go to
        new leaders."""
        if delta.partitions_changed:
            self._transaction_coordinators.leaders_changed()
        if _has_other_partitions(delta):
            for shard in self.groups.all:
                shard.perform(lambda machine: machine.topics_changed())
        if delta.topics_removed:
            names = sorted(topic.name for topic in delta.topics_removed.values())
            for shard in self.groups.all:
                shard.perform(lambda machine: machine.topics_deleted(names))

    def start(self) -> None:
        self._broker.tasks.start("offset expiry", self._expire())
        self._transaction_coordinators.start()

    def close(self) -> None:
        for shards in self._by_topic.values():
            shards.close()

    async def _expire(self) -> None:
        clock = self._broker.clock
        while True:
            seconds = self._broker.config.offsets_retention_check_interval_ms / 1_000
            await clock.sleep(self._broker.dice.jitter(seconds, fraction=_JITTER))
            started = clock.monotonic()
            for shard in self.groups.all:
                for group_id in [group.id for group in shard.machine.groups]:
                    shard.perform(partial(_expire, group_id))
                    if clock.monotonic() - started > _STEP_SECONDS:
                        await clock.sleep(0)
                        started = clock.monotonic()


def _expire(group_id: str, machine: GroupCoordinator) -> Outcome:
    return machine.expire(group_id)


def _has_other_partitions(delta: MetadataDelta) -> bool:
    """Whether there are other topics, or more partitions in one."""
    return bool(delta.topics_created or delta.topics_removed) or any(
        before is None
        for partitions in delta.partitions_changed.values()
        for before in partitions.values()
    )
