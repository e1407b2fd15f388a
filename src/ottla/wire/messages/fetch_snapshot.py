"""Reads a chunk of a snapshot of the metadata log (KIP-630).

Version 1 has the replica's directory id and endpoints (KIP-853).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    Struct,
    Text,
    TopicName,
    Uint16,
    Uuid,
    field,
)


class SnapshotId(Struct):
    end_offset: Int64 = 0
    epoch: Int32 = 0


class FetchSnapshotRequestPartitionSnapshot(Struct):
    partition: Int32 = 0
    current_leader_epoch: Int32 = 0
    snapshot_id: SnapshotId = field(factory=SnapshotId)
    position: Int64 = 0
    replica_directory_id: Uuid = field(default=ZERO_UUID, versions="1+", tag=0)


class FetchSnapshotRequestTopicSnapshot(Struct):
    name: TopicName = ""
    partitions: list[FetchSnapshotRequestPartitionSnapshot] = field(factory=list)


class FetchSnapshotRequest(Message, api_key=59, versions="0-1", flexible="0+"):
    cluster_id: Text | None = field(default=None, tag=0)
    replica_id: Int32 = -1
    max_bytes: Int32 = 2**31 - 1
    topics: list[FetchSnapshotRequestTopicSnapshot] = field(factory=list)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class FetchSnapshotResponsePartitionSnapshot(Struct):
    index: Int32 = 0
    error_code: Int16 = 0
    snapshot_id: SnapshotId = field(factory=SnapshotId)
    current_leader: LeaderIdAndEpoch | None = field(default=None, nullable="none", tag=0)
    size: Int64 = 0
    position: Int64 = 0
    unaligned_records: Records = b""


class FetchSnapshotResponseTopicSnapshot(Struct):
    name: TopicName = ""
    partitions: list[FetchSnapshotResponsePartitionSnapshot] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Uint16 = 0


class FetchSnapshotResponse(Message, api_key=59, versions="0-1", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    topics: list[FetchSnapshotResponseTopicSnapshot] = field(factory=list)
    node_endpoints: list[NodeEndpoint] = field(factory=list, versions="1+", tag=0)
