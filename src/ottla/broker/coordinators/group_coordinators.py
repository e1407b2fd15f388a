"""The group coordinators of a node: one per partition of `__consumer_offsets` that it leads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.gone_topics import gone_topics, names_without_offsets
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.controller.quorum_seams import Seams
from ottla.metadata import MetadataDelta
from ottla.model.internal_topics import CONSUMER_OFFSETS
from ottla.replication.partition import Partition
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.records import Codec

if TYPE_CHECKING:
    from ottla.coordinator.groups.consumer.topic_regexes import TopicRegexes
    from ottla.coordinator.groups.coordinator import GroupCoordinator
    from ottla.coordinator.runtime.outcome import Outcome
    from ottla.coordinator.runtime.state_machine import Timers

_STEP_SECONDS: Final = 0.002
_JITTER: Final = 0.1


class GroupCoordinators:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        commit: GroupCommit,
        failures: StorageFailures,
        seams: Seams,
    ) -> None:
        self._cluster = cluster
        self._clock = seams.clock
        self._dice = seams.dice
        self._tasks = seams.tasks
        # Shared by the coordinators of all partitions, created with the first.
        self._topic_regexes: TopicRegexes | None = None
        self.shards: CoordinatorShards[GroupCoordinator] = CoordinatorShards(
            cluster,
            commit,
            failures,
            seams.clock,
            seams.tasks,
            seams.background,
            CONSUMER_OFFSETS,
            self._make_coordinator,
            write_timeout_ms=cluster.config.offsets_commit_timeout_ms,
            load_bytes=cluster.config.offsets_load_buffer_size,
            codec=Codec(cluster.config.offsets_topic_compression_codec),
        )

    def _make_coordinator(
        self,
        partition: Partition,  # noqa: ARG002 - every coordinator's signature
        timers: Timers,
    ) -> GroupCoordinator:
        # Imported with the first partition, so that a node without groups starts faster.
        from ottla.coordinator.groups.consumer.topic_regexes import TopicRegexes
        from ottla.coordinator.groups.context import GroupContext
        from ottla.coordinator.groups.coordinator import GroupCoordinator
        from ottla.coordinator.groups.groups import Groups
        from ottla.coordinator.groups.settings import GroupSettings
        from ottla.coordinator.offsets.offsets import Offsets

        cluster = self._cluster
        if self._topic_regexes is None:
            self._topic_regexes = TopicRegexes(self._clock, lambda: cluster.image.topics.by_name)
        return GroupCoordinator(
            GroupContext(
                Groups(),
                Offsets(),
                timers,
                self._clock,
                self._dice,
                self._topic_regexes,
                lambda: GroupSettings(cluster.config.values),
                lambda: cluster.image,
                lambda: cluster.metadata.end_offset - 1,
            )
        )

    def apply(self, delta: MetadataDelta) -> None:
        """Reassigns groups when topics, partition counts or ACLs changed; deletes the offsets of
        deleted topics that can no longer be restored."""
        if _has_other_partitions(delta) or delta.access_control_changed:
            for shard in self.shards.all:
                shard.perform(lambda machine: machine.topics_changed())
        gone = gone_topics(self._cluster.image, delta)
        if gone:
            topic_ids = frozenset(gone)
            for shard in self.shards.all:
                shard.perform(lambda machine: machine.share_states.topics_deleted(topic_ids))
        names = names_without_offsets(self._cluster.image, delta)
        if names:
            for shard in self.shards.all:
                shard.perform(lambda machine: machine.topics_deleted(names))

    def start(self) -> None:
        self._tasks.start("offset expiry", self._expire())

    async def _expire(self) -> None:
        clock = self._clock
        while True:
            seconds = self._cluster.config.offsets_retention_check_interval_ms / 1_000
            await clock.sleep(self._dice.jitter(seconds, fraction=_JITTER))
            started = clock.monotonic()
            for shard in self.shards.all:
                for group_id in [group.id for group in shard.machine.groups]:
                    shard.perform(partial(_expire, group_id))
                    if clock.monotonic() - started > _STEP_SECONDS:
                        await clock.sleep(0)
                        started = clock.monotonic()


def _expire(group_id: str, machine: GroupCoordinator) -> Outcome:
    return machine.expire(group_id)


def _has_other_partitions(delta: MetadataDelta) -> bool:
    """Whether topics were created or deleted, or partitions added."""
    return bool(delta.topics_created or delta.topics_removed) or any(
        before is None
        for partitions in delta.partitions_changed.values()
        for before in partitions.values()
    )
