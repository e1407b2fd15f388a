"""Returns the leader, voters and observers of the metadata quorum and their progress (KIP-595).

Version 1 has the times when a replica last fetched and was last caught up (KIP-836). 2 has
directories, endpoints and error messages (KIP-853).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    MessageText,
    Struct,
    Text,
    TopicName,
    Uint16,
    Uuid,
    field,
)


class DescribeQuorumRequestPartitionData(Struct):
    partition_index: Int32 = 0


class DescribeQuorumRequestTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[DescribeQuorumRequestPartitionData] = field(factory=list)


class DescribeQuorumRequest(Message, api_key=55, versions="0-2", flexible="0+"):
    topics: list[DescribeQuorumRequestTopicData] = field(factory=list)


class ReplicaState(Struct):
    replica_id: Int32 = 0
    replica_directory_id: Uuid = field(default=ZERO_UUID, versions="2+")
    log_end_offset: Int64 = 0
    last_fetch_timestamp: Int64 = field(default=-1, versions="1+")
    last_caught_up_timestamp: Int64 = field(default=-1, versions="1+")


class DescribeQuorumResponsePartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = field(default="", versions="2+")
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0
    high_watermark: Int64 = 0
    current_voters: list[ReplicaState] = field(factory=list)
    observers: list[ReplicaState] = field(factory=list)


class DescribeQuorumResponseTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[DescribeQuorumResponsePartitionData] = field(factory=list)


class Listener(Struct):
    name: Text = ""
    host: Text = ""
    port: Uint16 = 0


class Node(Struct):
    node_id: Int32 = 0
    listeners: list[Listener] = field(factory=list)


class DescribeQuorumResponse(Message, api_key=55, versions="0-2", flexible="0+"):
    error_code: Int16 = 0
    error_message: MessageText | None = field(default="", versions="2+")
    topics: list[DescribeQuorumResponseTopicData] = field(factory=list)
    nodes: list[Node] = field(factory=list, versions="2+")
