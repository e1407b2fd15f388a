"""Reads record batches: for consumers, for followers and for the metadata quorum.

Version 7 has incremental sessions (KIP-227). 9 fences by leader epoch (KIP-320). 11 lets consumers
read from a nearby replica (KIP-392). 12 detects diverging logs by the last fetched epoch (KIP-595).
13 has topic ids instead of names (KIP-516). 15 moves the replica id into a tagged struct with its
epoch (KIP-903). 16 returns the current leader (KIP-951). 17 has the replica's directory id
(KIP-853). 18 has the follower's high watermark (KIP-1166).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    Struct,
    Text,
    TopicId,
    TopicName,
    Uuid,
    field,
)


class ReplicaState(Struct):
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


class FetchPartition(Struct):
    partition: Int32 = 0
    current_leader_epoch: Int32 = field(default=-1, versions="9+")
    fetch_offset: Int64 = 0
    last_fetched_epoch: Int32 = field(default=-1, versions="12+")
    log_start_offset: Int64 = field(default=-1, versions="5+")
    partition_max_bytes: Int32 = 0
    replica_directory_id: Uuid = field(default=ZERO_UUID, versions="17+", tag=0)
    high_watermark: Int64 = field(default=2**63 - 1, versions="18+", tag=1)


class FetchTopic(Struct):
    topic: TopicName = field(default="", versions="4-12")
    topic_id: TopicId = field(default=ZERO_UUID, versions="13+")
    partitions: list[FetchPartition] = field(factory=list)


class ForgottenTopic(Struct):
    topic: TopicName = field(default="", versions="7-12")
    topic_id: TopicId = field(default=ZERO_UUID, versions="13+")
    partitions: list[Int32] = field(factory=list)


class FetchRequest(Message, api_key=1, versions="4-18", flexible="12+"):
    cluster_id: Text | None = field(default=None, versions="12+", tag=0)
    replica_id: Int32 = field(default=-1, versions="4-14")
    replica_state: ReplicaState | None = field(default=None, versions="15+", nullable="none", tag=1)
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Int32 = 2**31 - 1
    isolation_level: Int8 = 0
    session_id: Int32 = field(default=0, versions="7+")
    session_epoch: Int32 = field(default=-1, versions="7+")
    topics: list[FetchTopic] = field(factory=list)
    forgotten_topics_data: list[ForgottenTopic] = field(factory=list, versions="7+")
    rack_id: Text = field(default="", versions="11+")


class EpochEndOffset(Struct):
    epoch: Int32 = -1
    end_offset: Int64 = -1


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class SnapshotId(Struct):
    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(Struct):
    producer_id: Int64 = 0
    first_offset: Int64 = 0


class PartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    high_watermark: Int64 = 0
    last_stable_offset: Int64 = -1
    log_start_offset: Int64 = field(default=-1, versions="5+")
    diverging_epoch: EpochEndOffset | None = field(
        default=None, versions="12+", nullable="none", tag=0
    )
    current_leader: LeaderIdAndEpoch | None = field(
        default=None, versions="12+", nullable="none", tag=1
    )
    snapshot_id: SnapshotId | None = field(default=None, versions="12+", nullable="none", tag=2)
    aborted_transactions: list[AbortedTransaction] | None = field(factory=list)
    preferred_read_replica: Int32 = field(default=-1, versions="11+")
    records: Records | None = None


class FetchableTopicResponse(Struct):
    topic: TopicName = field(default="", versions="4-12")
    topic_id: TopicId = field(default=ZERO_UUID, versions="13+")
    partitions: list[PartitionData] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Int32 = 0
    rack: Text | None = None


class FetchResponse(Message, api_key=1, versions="4-18", flexible="12+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(default=0, versions="7+")
    session_id: Int32 = field(default=0, versions="7+")
    responses: list[FetchableTopicResponse] = field(factory=list)
    node_endpoints: list[NodeEndpoint] = field(factory=list, versions="16+", tag=0)
