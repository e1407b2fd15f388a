"""The metadata quorum, and the cluster as the controllers see it."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge

_CONTROLLER: Final = "kafka.controller:type=KafkaController,name={}"
_RAFT: Final = "kafka.server:type=raft-metrics#{}"

ACTIVE_CONTROLLER: Final = gauge(
    "ottla_active_controller",
    "1 if this node is the active controller, else 0. The sum over all nodes should be 1.",
    kafka=_CONTROLLER.format("ActiveControllerCount"),
)
OFFLINE_PARTITIONS: Final = gauge(
    "ottla_offline_partitions",
    "Partitions without a leader, in the metadata of this controller. Only controllers export it.",
    kafka=_CONTROLLER.format("OfflinePartitionsCount"),
)
PREFERRED_LEADER_IMBALANCE: Final = gauge(
    "ottla_preferred_leader_imbalance_partitions",
    "Partitions whose leader is not the preferred one. Only controllers export it.",
    kafka=_CONTROLLER.format("PreferredReplicaImbalanceCount"),
)
CLUSTER_BROKERS: Final = gauge(
    "ottla_cluster_brokers",
    "Registered brokers, by state (active, fenced, or controlled_shutdown). Only controllers "
    "export it.",
    "state",
    kafka=_CONTROLLER.format("{ActiveBrokerCount,FencedBrokerCount,ControlledShutdownBrokerCount}"),
)
CLUSTER_TOPICS: Final = gauge(
    "ottla_cluster_topics",
    "Topics in the cluster. Only controllers export it.",
    kafka=_CONTROLLER.format("GlobalTopicCount"),
)
CLUSTER_PARTITIONS: Final = gauge(
    "ottla_cluster_partitions",
    "Partitions in the cluster. Only controllers export it.",
    kafka=_CONTROLLER.format("GlobalPartitionCount"),
)
CLUSTER_DELETED_TOPICS: Final = gauge(
    "ottla_cluster_deleted_topics",
    "Deleted topics that can still be restored. Only controllers export it.",
)
UNCLEAN_ELECTIONS: Final = counter(
    "ottla_unclean_leader_elections_total",
    "Leaders that were elected from outside the in-sync replicas since this controller became "
    "active. Records may be lost.",
    kafka="kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec",
)
LEADER_CHANGES: Final = counter(
    "ottla_leader_changes_total",
    "Changes of partition leaders that this node has seen in the metadata.",
    kafka="kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs",
)

QUORUM_STATE: Final = gauge(
    "ottla_quorum_state",
    "1 for the state of this node in the metadata quorum (leader, follower, candidate, "
    "prospective, unattached or resigned), 0 for the others.",
    "state",
    kafka=_RAFT.format("current-state"),
)
QUORUM_LEADER: Final = gauge(
    "ottla_quorum_leader",
    "Node id of the leader of the metadata quorum that this node knows; -1 if it knows none.",
    kafka=_RAFT.format("current-leader"),
)
QUORUM_EPOCH: Final = gauge(
    "ottla_quorum_epoch",
    "Leader epoch of the metadata quorum that this node knows.",
    kafka=_RAFT.format("current-epoch"),
)
QUORUM_ELECTIONS: Final = counter(
    "ottla_quorum_leader_changes_total",
    "Times that this node has seen another leader, or another leader epoch, of the metadata "
    "quorum.",
)
QUORUM_VOTERS: Final = gauge(
    "ottla_quorum_voters",
    "Voters of the metadata quorum that this node knows.",
    kafka=_RAFT.format("number-of-voters"),
)
QUORUM_OBSERVERS: Final = gauge(
    "ottla_quorum_observers",
    "Observers that fetch from this node. Only the leader of the quorum exports it.",
    kafka=_RAFT.format("number-of-observers"),
)
QUORUM_REPLICA_LAG: Final = gauge(
    "ottla_quorum_replica_lag_records",
    "Metadata records by which a voter or observer is behind the leader's log, by node id and role "
    "(voter or observer). Only the leader of the quorum exports it.",
    "replica",
    "role",
)
METADATA_LOG_END_OFFSET: Final = gauge(
    "ottla_metadata_log_end_offset",
    "Offset after the last record of this node's metadata log.",
    kafka=_RAFT.format("log-end-offset"),
)
METADATA_HIGH_WATERMARK: Final = gauge(
    "ottla_metadata_high_watermark",
    "Offset up to which the metadata records are committed and applied on this node.",
    kafka=_RAFT.format("high-watermark"),
)
METADATA_VERSION: Final = gauge(
    "ottla_metadata_version",
    "Feature level of metadata.version.",
    kafka="kafka.server:type=MetadataLoader,name=CurrentMetadataVersion",
)

CONTROLLER_FAMILIES: Final = (
    ACTIVE_CONTROLLER,
    OFFLINE_PARTITIONS,
    PREFERRED_LEADER_IMBALANCE,
    CLUSTER_BROKERS,
    CLUSTER_TOPICS,
    CLUSTER_PARTITIONS,
    CLUSTER_DELETED_TOPICS,
    UNCLEAN_ELECTIONS,
    LEADER_CHANGES,
    QUORUM_STATE,
    QUORUM_LEADER,
    QUORUM_EPOCH,
    QUORUM_ELECTIONS,
    QUORUM_VOTERS,
    QUORUM_OBSERVERS,
    QUORUM_REPLICA_LAG,
    METADATA_LOG_END_OFFSET,
    METADATA_HIGH_WATERMARK,
    METADATA_VERSION,
)
