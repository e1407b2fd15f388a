"""The share coordinators of a node: one per partition of `__share_group_state` that it leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.gone_topics import gone_topics
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.controller.quorum_seams import Seams
from ottla.metadata import MetadataDelta
from ottla.model import TopicPartition
from ottla.model.internal_topics import SHARE_GROUP_STATE
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.records import Codec

if TYPE_CHECKING:
    from ottla.coordinator.runtime.shard import Shard
    from ottla.coordinator.runtime.state_machine import Timers
    from ottla.coordinator.shares.coordinator import ShareCoordinator

_JITTER: Final = 0.1


class ShareCoordinators:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        commit: GroupCommit,
        failures: StorageFailures,
        seams: Seams,
    ) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._clock = seams.clock
        self._dice = seams.dice
        self._tasks = seams.tasks
        self._failures = failures
        config = cluster.config
        self.shards: CoordinatorShards[ShareCoordinator] = CoordinatorShards(
            cluster,
            commit,
            failures,
            seams.clock,
            seams.tasks,
            seams.background,
            SHARE_GROUP_STATE,
            self._make_coordinator,
            write_timeout_ms=config.share_coordinator_write_timeout_ms,
            load_bytes=config.share_coordinator_load_buffer_size,
            codec=Codec(config.share_coordinator_state_topic_compression_codec),
        )

    def _make_coordinator(
        self,
        partition: Partition,  # noqa: ARG002 - every coordinator's signature
        timers: Timers,  # noqa: ARG002
    ) -> ShareCoordinator:
        # Imported with the first partition, so that a node without share groups starts faster.
        from ottla.coordinator.shares.coordinator import ShareContext, ShareCoordinator
        from ottla.coordinator.shares.settings import ShareSettings

        cluster = self._cluster
        return ShareCoordinator(
            ShareContext(
                self._clock, lambda: ShareSettings(cluster.config.values), lambda: cluster.image
            )
        )

    def apply(self, delta: MetadataDelta) -> None:
        """Deletes the state of deleted topics that can no longer be restored."""
        gone = gone_topics(self._cluster.image, delta)
        if gone:
            topic_ids = frozenset(gone)
            for shard in self.shards.all:
                shard.perform(lambda machine: machine.topics_deleted(topic_ids))

    def start(self) -> None:
        self._tasks.start("share state snapshots", self._snapshot())
        self._tasks.start("share state pruning", self._prune())

    async def _snapshot(self) -> None:
        while True:
            interval_ms = self._cluster.config.share_coordinator_snapshot_interval_ms
            await self._clock.sleep(self._dice.jitter(interval_ms / 1_000, fraction=_JITTER))
            for shard in self.shards.all:
                shard.perform(lambda machine: machine.snapshot_cold())
                await self._clock.sleep(0)

    async def _prune(self) -> None:
        """Deletes the records that no state needs any more."""
        while True:
            interval_ms = self._cluster.config.share_coordinator_prune_interval_ms
            await self._clock.sleep(self._dice.jitter(interval_ms / 1_000, fraction=_JITTER))
            for shard in self.shards.all:
                if shard.is_settled:
                    self._prune_shard(shard)
                await self._clock.sleep(0)

    def _prune_shard(self, shard: Shard[ShareCoordinator]) -> None:
        name: TopicPartition = shard.name
        partition = self._partitions.get(name)
        if partition is None or not partition.is_leader or partition.log is None:
            return
        # Only committed records are in the state of a settled shard.
        offset = shard.machine.needed_from(partition.log.high_watermark)
        if offset > partition.log.log_start_offset:
            with self._failures.translated(partition):
                partition.delete_records_before(offset)
