"""Which of its partitions a node leads and which it follows, as the metadata says.

That takes a way to the controller for ISR changes, and a fetcher for each leader.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from ottla.broker.control.broker_peers import inter_broker_address
from ottla.broker.replicas.replica_throttle import ReplicaThrottle
from ottla.client import Peer
from ottla.client.peer import ReconnectBackoff
from ottla.metadata import PartitionRegistration
from ottla.model import NodeId
from ottla.replication.controller_isr_changes import ControllerIsrChanges
from ottla.replication.leadership import LeaderContext
from ottla.replication.partition import Partition
from ottla.runtime.network import Network
from ottla.wire.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse

if TYPE_CHECKING:
    from ottla.broker.broker import Broker
    from ottla.replication.fetchers import Fetchers

_UNREGISTERED: Final = -1
_BACKOFF: Final = ReconnectBackoff(first_ms=10, max_ms=500, connect_timeout_ms=2_000)


class Replication:
    """Made with the broker. Owned by the node's loop; its tasks end with the node's, its
    connections with `close`."""

    def __init__(self, broker: Broker, network: Network) -> None:
        self._broker = broker
        self._network = network
        self.leader_throttle = ReplicaThrottle(broker, "leader")
        config = broker.config
        isr_changes = ControllerIsrChanges(
            broker.node_id,
            self.broker_epoch,
            self._alter_partition,
            broker.clock,
            broker.dice,
            broker.tasks,
        )
        self._leading = LeaderContext(
            broker.node_id,
            self.broker_epoch,
            lambda node_id: broker.image.brokers.get(node_id),
            isr_changes,
            config.replica_lag_time_max_ms,
        )

    @cached_property
    def _fetchers(self) -> Fetchers:
        # Loaded with the first partition: a node without any starts without them.
        from ottla.replication.fetchers import Fetchers
        from ottla.replication.follower_context import FetchLimits, FollowerContext

        broker, config = self._broker, self._broker.config
        return Fetchers(
            FollowerContext(
                broker.node_id,
                self.broker_epoch,
                broker.clock,
                broker.commit,
                lambda partition, error: self._storage_failed(partition, error),
                FetchLimits(
                    bytes_max=config.replica_fetch_max_bytes,
                    response_bytes_max=config.replica_fetch_response_max_bytes,
                    bytes_min=config.replica_fetch_min_bytes,
                    wait_ms_max=config.replica_fetch_wait_max_ms,
                    backoff_ms_max=config.replica_fetch_backoff_ms,
                    socket_timeout_ms=config.replica_socket_timeout_ms,
                ),
                ReplicaThrottle(broker, "follower"),
            ),
            broker.tasks,
            self._open_peer,
        )

    def broker_epoch(self) -> int:
        """Of this node's own registration, as far as it has heard of it."""
        registration = self._broker.image.brokers.get(self._broker.node_id)
        return _UNREGISTERED if registration is None else registration.epoch

    def follow_metadata(self, partition: Partition, registration: PartitionRegistration) -> None:
        """Leads a partition or follows its leader, as the metadata says."""
        if registration.leader == self._broker.node_id:
            self._fetchers.unfollow(partition)
            partition.become_leader(registration, self._leading, now_ms=self.now_ms())
        elif partition.become_follower(registration):
            self._fetchers.follow(partition)
        self._broker.coordinators.follow(partition)

    def forget(self, partition: Partition) -> None:
        """The replica is removed from this node."""
        self._fetchers.unfollow(partition)
        self._broker.coordinators.forget(partition)

    def brokers_changed(self) -> None:
        """A broker that was fenced may serve again, and its replicas join their ISRs."""
        for partition in self._broker.partitions:
            if partition.is_leader:
                partition.maybe_expand_isr()

    async def look_at_isrs(self) -> None:
        """Lets go of followers that are too far behind. To be called now and then."""
        now_ms = self.now_ms()
        for partition in list(self._broker.partitions):
            if partition.is_leader:
                partition.maybe_shrink_isr(now_ms=now_ms)

    def now_ms(self) -> int:
        """Lag is measured by a clock that does not jump."""
        return int(self._broker.clock.monotonic() * 1_000)

    def close(self) -> None:
        self._fetchers.close()

    async def _alter_partition(self, request: AlterPartitionRequest) -> AlterPartitionResponse:
        response: AlterPartitionResponse = await self._broker.controller.send(request)
        return response

    def _storage_failed(self, partition: Partition, error: OSError) -> None:
        self._broker.storage_failed(partition, error)

    def _open_peer(self, node_id: NodeId) -> Peer:
        broker = self._broker
        return Peer(
            self._network,
            broker.clock,
            broker.dice,
            broker.tasks,
            lambda: inter_broker_address(broker, node_id),
            client_id=f"ottla-{broker.node_id}-fetcher",
            backoff=_BACKOFF,
        )
