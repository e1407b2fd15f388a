"""The leader of the metadata quorum resigns and lists the preferred successors (KIP-595).

Version 1 identifies candidates by id and directory, and contains endpoints (KIP-853).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int16, Int32, Message, Struct, Text, TopicName, Uint16, Uuid, field


class ReplicaInfo(Struct):
    candidate_id: Int32 = 0
    candidate_directory_id: Uuid = ZERO_UUID


class EndQuorumEpochRequestPartitionData(Struct):
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0
    preferred_successors: list[Int32] = field(factory=list, versions="0")
    preferred_candidates: list[ReplicaInfo] = field(factory=list, versions="1+")


class EndQuorumEpochRequestTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[EndQuorumEpochRequestPartitionData] = field(factory=list)


class LeaderEndpoint(Struct):
    name: Text = ""
    host: Text = ""
    port: Uint16 = 0


class EndQuorumEpochRequest(Message, api_key=54, versions="0-1", flexible="1+"):
    cluster_id: Text | None = None
    topics: list[EndQuorumEpochRequestTopicData] = field(factory=list)
    leader_endpoints: list[LeaderEndpoint] = field(factory=list, versions="1+")


class EndQuorumEpochResponsePartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class EndQuorumEpochResponseTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[EndQuorumEpochResponsePartitionData] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Uint16 = 0


class EndQuorumEpochResponse(Message, api_key=54, versions="0-1", flexible="1+"):
    error_code: Int16 = 0
    topics: list[EndQuorumEpochResponseTopicData] = field(factory=list)
    node_endpoints: list[NodeEndpoint] = field(factory=list, versions="1+", tag=0)
