"""Partitions that a node leads or follows, and fetch sessions."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge

_REPLICAS: Final = "kafka.server:type=ReplicaManager,name={}"
_SESSIONS: Final = "kafka.server:type=FetchSessionCache,cacheShard=*,name={}"

PARTITIONS: Final = gauge(
    "ottla_partitions",
    "Partition replicas on this node.",
    kafka=_REPLICAS.format("PartitionCount"),
)
LEADER_PARTITIONS: Final = gauge(
    "ottla_leader_partitions",
    "Partitions that this node leads.",
    kafka=_REPLICAS.format("LeaderCount"),
)
OFFLINE_REPLICAS: Final = gauge(
    "ottla_offline_replicas",
    "Partition replicas on this node whose log directory has failed.",
    kafka=_REPLICAS.format("OfflineReplicaCount"),
)
UNDER_REPLICATED_PARTITIONS: Final = gauge(
    "ottla_under_replicated_partitions",
    "Partitions that this node leads and that have fewer in-sync replicas than replicas.",
    kafka=_REPLICAS.format("UnderReplicatedPartitions"),
)
UNDER_MIN_ISR_PARTITIONS: Final = gauge(
    "ottla_under_min_isr_partitions",
    "Partitions that this node leads and that have fewer in-sync replicas than "
    "min.insync.replicas. Producers with acks=all get errors.",
    kafka=_REPLICAS.format("UnderMinIsrPartitionCount"),
)
AT_MIN_ISR_PARTITIONS: Final = gauge(
    "ottla_at_min_isr_partitions",
    "Partitions that this node leads and that have exactly min.insync.replicas in-sync replicas.",
    kafka=_REPLICAS.format("AtMinIsrPartitionCount"),
)
REASSIGNING_PARTITIONS: Final = gauge(
    "ottla_reassigning_partitions",
    "Partitions that this node leads and whose replicas are being reassigned.",
    kafka=_REPLICAS.format("ReassigningPartitions"),
)
ISR_SHRINKS: Final = counter(
    "ottla_isr_shrinks_total",
    "Times that a replica left the ISR of a partition that this node leads.",
    kafka=_REPLICAS.format("IsrShrinksPerSec"),
)
ISR_EXPANDS: Final = counter(
    "ottla_isr_expands_total",
    "Times that a replica joined the ISR of a partition that this node leads.",
    kafka=_REPLICAS.format("IsrExpandsPerSec"),
)
FAILED_ISR_UPDATES: Final = counter(
    "ottla_failed_isr_updates_total",
    "ISR changes of partitions that this node leads that the controller refused.",
    kafka=_REPLICAS.format("FailedIsrUpdatesPerSec"),
)
REPLICATION_RECEIVED_BYTES: Final = counter(
    "ottla_replication_received_bytes_total",
    "Bytes of record batches that this node fetched as a follower.",
    kafka="kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec",
)
REPLICATION_SENT_BYTES: Final = counter(
    "ottla_replication_sent_bytes_total",
    "Bytes of record batches in the responses to followers.",
    kafka="kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec",
)
FETCHER_LAG: Final = gauge(
    "ottla_fetcher_lag_records",
    "Records by which this node's replica is behind the high watermark of its leader, by leader "
    "(node id), topic and partition.",
    "leader",
    "topic",
    "partition",
    kafka="kafka.server:type=FetcherLagMetrics,name=ConsumerLag,clientId=*,topic=*,partition=*",
)
FETCHER_LAG_MAX: Final = gauge(
    "ottla_fetcher_lag_records_max",
    "The largest ottla_fetcher_lag_records of this node, by leader (node id).",
    "leader",
    kafka="kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica",
)
FETCHER_RESTING_PARTITIONS: Final = gauge(
    "ottla_fetcher_resting_partitions",
    "Partitions that this node does not fetch for a moment, after an error or because of a "
    "throttle, by leader (node id).",
    "leader",
    kafka="kafka.server:type=ReplicaFetcherManager,name=FailedPartitionsCount,clientId=Replica",
)

FETCH_SESSIONS: Final = gauge(
    "ottla_fetch_sessions",
    "Open fetch sessions.",
    kafka=_SESSIONS.format("NumIncrementalFetchSessions"),
)
FETCH_SESSION_PARTITIONS: Final = gauge(
    "ottla_fetch_session_partitions",
    "Partitions in all fetch sessions together.",
    kafka=_SESSIONS.format("NumIncrementalFetchPartitionsCached"),
)
FETCH_SESSION_EVICTIONS: Final = counter(
    "ottla_fetch_session_evictions_total",
    "Fetch sessions that were closed to make room for another one.",
    kafka=_SESSIONS.format("IncrementalFetchSessionEvictionsPerSec"),
)

REPLICATION_FAMILIES: Final = (
    PARTITIONS,
    LEADER_PARTITIONS,
    OFFLINE_REPLICAS,
    UNDER_REPLICATED_PARTITIONS,
    UNDER_MIN_ISR_PARTITIONS,
    AT_MIN_ISR_PARTITIONS,
    REASSIGNING_PARTITIONS,
    ISR_SHRINKS,
    ISR_EXPANDS,
    FAILED_ISR_UPDATES,
    REPLICATION_RECEIVED_BYTES,
    REPLICATION_SENT_BYTES,
    FETCHER_LAG,
    FETCHER_LAG_MAX,
    FETCHER_RESTING_PARTITIONS,
    FETCH_SESSIONS,
    FETCH_SESSION_PARTITIONS,
    FETCH_SESSION_EVICTIONS,
)
