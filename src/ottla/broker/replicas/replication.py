"""Makes this node leader or follower of its partitions, as the metadata says.

Leaders send ISR changes to the controller (AlterPartition); followers have a fetcher per leader.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.broker_connector import BrokerConnector
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.replica_throttle import ReplicaThrottle
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.metadata import PartitionRegistration
from ottla.replication.controller_isr_changes import ControllerIsrChanges
from ottla.replication.leadership import LeaderContext
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse

if TYPE_CHECKING:
    from ottla.replication.fetchers import Fetchers


class LeadershipListener(Protocol):
    """Implemented by coordinators, which keep their state in partitions that this node leads."""

    def follow(self, partition: Partition) -> None:
        """Called when this node became or stopped being leader, or the partition changed."""

    def forget(self, partition: Partition) -> None:
        """Called when the replica is removed from this node or its disk has failed."""


class Replication:
    """Owned by the node's loop. Its tasks end with the node's; `close` closes its connections."""

    def __init__(
        self,
        cluster: ClusterView,
        controller: ActiveController,
        connector: BrokerConnector,
        partitions: Partitions,
        commit: GroupCommit,
        failures: StorageFailures,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
    ) -> None:
        self._cluster = cluster
        self._controller = controller
        self._connector = connector
        self._partitions = partitions
        self._commit = commit
        self._failures = failures
        self._clock = clock
        self._tasks = tasks
        self._listeners: list[LeadershipListener] = []
        self.leader_throttle = ReplicaThrottle(cluster, clock, "leader")
        self.follower_throttle = ReplicaThrottle(cluster, clock, "follower")
        self.isr_changes = ControllerIsrChanges(
            cluster.node_id, cluster.broker_epoch, self._alter_partition, clock, dice, tasks
        )
        self._leading = LeaderContext(
            cluster.node_id,
            cluster.broker_epoch,
            lambda node_id: cluster.image.brokers.get(node_id),
            self.isr_changes,
            cluster.config.replica_lag_time_max_ms,
        )
        failures.listen(self.forget)

    def listen(self, *listeners: LeadershipListener) -> None:
        self._listeners += listeners

    @cached_property
    def fetchers(self) -> Fetchers:
        # Imported with the first partition, so that a node without partitions starts faster.
        from ottla.replication.fetchers import Fetchers
        from ottla.replication.follower_context import FetchLimits, FollowerContext

        cluster, config = self._cluster, self._cluster.config
        return Fetchers(
            FollowerContext(
                cluster.node_id,
                cluster.broker_epoch,
                self._clock,
                self._commit,
                self._failures.partition_failed,
                FetchLimits(
                    bytes_max=config.replica_fetch_max_bytes,
                    response_bytes_max=config.replica_fetch_response_max_bytes,
                    bytes_min=config.replica_fetch_min_bytes,
                    wait_ms_max=config.replica_fetch_wait_max_ms,
                    backoff_ms_max=config.replica_fetch_backoff_ms,
                    socket_timeout_ms=config.replica_socket_timeout_ms,
                ),
                self.follower_throttle,
            ),
            self._tasks,
            lambda node_id: self._connector.open(node_id, "fetcher"),
        )

    def follow_metadata(self, partition: Partition, registration: PartitionRegistration) -> None:
        """Makes this node leader or follower of the partition, as `registration` says."""
        if registration.leader == self._cluster.node_id:
            self.fetchers.unfollow(partition)
            partition.become_leader(registration, self._leading, now_ms=self.now_ms())
        elif partition.become_follower(registration):
            self.fetchers.follow(partition)
        self.partition_changed(partition)

    def partition_changed(self, partition: Partition) -> None:
        """Its leader, its log or the configs of its topic may have changed."""
        for listener in self._listeners:
            listener.follow(partition)

    def forget(self, partition: Partition) -> None:
        """Stops replication of a replica that was removed or whose disk failed."""
        self.fetchers.unfollow(partition)
        for listener in self._listeners:
            listener.forget(partition)

    def brokers_changed(self) -> None:
        """Expands ISRs: a broker may have been unfenced."""
        for partition in self._partitions:
            if partition.is_leader:
                partition.maybe_expand_isr()

    async def look_at_isrs(self) -> None:
        """Removes lagging followers from the ISRs. Called periodically."""
        now_ms = self.now_ms()
        for partition in list(self._partitions):
            if partition.is_leader:
                partition.maybe_shrink_isr(now_ms=now_ms)

    def now_ms(self) -> int:
        """Monotonic time, by which lag is measured: the wall clock may jump."""
        return int(self._clock.monotonic() * 1_000)

    def close(self) -> None:
        self.fetchers.close()

    async def _alter_partition(self, request: AlterPartitionRequest) -> AlterPartitionResponse:
        response: AlterPartitionResponse = await self._controller.send(request)
        return response
