"""The new leader of the metadata quorum announces itself to the voters (KIP-595).

Version 1 identifies voters by id and directory, and contains endpoints (KIP-853).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int16, Int32, Message, Struct, Text, TopicName, Uint16, Uuid, field


class BeginQuorumEpochRequestPartitionData(Struct):
    partition_index: Int32 = 0
    voter_directory_id: Uuid = field(default=ZERO_UUID, versions="1+")
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class BeginQuorumEpochRequestTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[BeginQuorumEpochRequestPartitionData] = field(factory=list)


class LeaderEndpoint(Struct):
    name: Text = ""
    host: Text = ""
    port: Uint16 = 0


class BeginQuorumEpochRequest(Message, api_key=53, versions="0-1", flexible="1+"):
    cluster_id: Text | None = None
    voter_id: Int32 = field(default=-1, versions="1+")
    topics: list[BeginQuorumEpochRequestTopicData] = field(factory=list)
    leader_endpoints: list[LeaderEndpoint] = field(factory=list, versions="1+")


class BeginQuorumEpochResponsePartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class BeginQuorumEpochResponseTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[BeginQuorumEpochResponsePartitionData] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Uint16 = 0


class BeginQuorumEpochResponse(Message, api_key=53, versions="0-1", flexible="1+"):
    error_code: Int16 = 0
    topics: list[BeginQuorumEpochResponseTopicData] = field(factory=list)
    node_endpoints: list[NodeEndpoint] = field(factory=list, versions="1+", tag=0)
