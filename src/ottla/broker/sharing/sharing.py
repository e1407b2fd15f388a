"""The parts of a broker for share groups. Imported and created with the first request of a
share group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.leader_appends import LeaderAppends
from ottla.broker.coordinators.share_states import ShareStates
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.broker.replicas.replication import Replication
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.sharing.acknowledging import Acknowledging
from ottla.broker.sharing.dead_letters import DeadLetters
from ottla.broker.sharing.group_delivery import GroupDeliveries
from ottla.broker.sharing.share_fetches import ShareFetches
from ottla.broker.sharing.share_lag import ShareLags
from ottla.broker.sharing.share_metrics import ShareMetrics
from ottla.broker.sharing.share_sessions import ShareSession, ShareSessions
from ottla.broker.sharing.shared_partitions import SharedPartitions
from ottla.broker.sharing.start_offsets import StartOffsets
from ottla.controller.quorum_seams import Seams
from ottla.metrics import Metrics
from ottla.replication.partitions import Partitions
from ottla.storage.log.group_commit import GroupCommit

if TYPE_CHECKING:
    from ottla.coordinator.shares.coordinator import ShareCoordinator


class Sharing:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        replication: Replication,
        shares: CoordinatorShards[ShareCoordinator],
        changes: MetadataChanges,
        peers: BrokerPeers,
        commit: GroupCommit,
        failures: StorageFailures,
        metrics: Metrics,
        seams: Seams,
    ) -> None:
        clock, tasks = seams.clock, seams.tasks
        self.states = states = ShareStates(
            cluster, shares, peers, changes, clock, seams.dice, tasks
        )
        self.lags = ShareLags(cluster, partitions, peers, states)
        self.metrics = ShareMetrics(metrics)
        self.deliveries = GroupDeliveries(cluster)
        self.sessions = ShareSessions(cluster)
        self.sessions.ended = self._session_ended
        self.shared = SharedPartitions(
            cluster,
            partitions,
            states,
            self.deliveries,
            StartOffsets(cluster, peers, clock, tasks),
            self.metrics,
            DeadLetters(
                cluster,
                LeaderAppends(cluster, partitions, peers, commit, failures, seams, PeerLane.SHARES),
                failures,
                metrics,
                seams,
            ),
            clock,
        )
        replication.listen(self.shared)
        self.acknowledging = Acknowledging(cluster, self.shared, clock, self.metrics)
        self.fetches = ShareFetches(
            cluster,
            self.sessions,
            self.shared,
            self.acknowledging,
            self.deliveries,
            failures,
            self.metrics,
            clock,
            tasks,
            seams.background,
        )

    def _session_ended(self, session: ShareSession) -> None:
        """Releases what the member holds, so that others get it at once."""
        for shared in self.shared.of_group(session.group_id):
            if shared.is_active:
                change = shared.machine.release(session.member_id)
                shared.store(change, lambda _error: None)
        if not self.sessions.count_of(session.group_id):
            self.shared.close_group(session.group_id)
