"""A candidate for leader of the metadata quorum requests a vote (KIP-595).

Version 1 identifies voters by id and directory, and returns endpoints (KIP-853). 2 has pre-votes,
which ask whether an election could be won (KIP-996).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
    Int16,
    Int32,
    Int64,
    Message,
    Struct,
    Text,
    TopicName,
    Uint16,
    Uuid,
    field,
)


class VoteRequestPartitionData(Struct):
    partition_index: Int32 = 0
    replica_epoch: Int32 = 0
    replica_id: Int32 = 0
    replica_directory_id: Uuid = field(default=ZERO_UUID, versions="1+")
    voter_directory_id: Uuid = field(default=ZERO_UUID, versions="1+")
    last_offset_epoch: Int32 = 0
    last_offset: Int64 = 0
    pre_vote: Bool = field(default=False, versions="2+")


class VoteRequestTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[VoteRequestPartitionData] = field(factory=list)


class VoteRequest(Message, api_key=52, versions="0-2", flexible="0+"):
    cluster_id: Text | None = None
    voter_id: Int32 = field(default=-1, versions="1+")
    topics: list[VoteRequestTopicData] = field(factory=list)


class VoteResponsePartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0
    vote_granted: Bool = False


class VoteResponseTopicData(Struct):
    topic_name: TopicName = ""
    partitions: list[VoteResponsePartitionData] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Uint16 = 0


class VoteResponse(Message, api_key=52, versions="0-2", flexible="0+"):
    error_code: Int16 = 0
    topics: list[VoteResponseTopicData] = field(factory=list)
    node_endpoints: list[NodeEndpoint] = field(factory=list, versions="1+", tag=0)
