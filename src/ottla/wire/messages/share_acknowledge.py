"""ShareAcknowledge (KIP-932): acknowledges records that a share consumer acquired.

Version 2 adds the renewal of locks (KIP-1222).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
    GroupId,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    MessageText,
    Struct,
    Text,
    TopicId,
    field,
)


class AcknowledgementBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    acknowledge_types: list[Int8] = field(factory=list)


class AcknowledgePartition(Struct):
    partition_index: Int32 = 0
    acknowledgement_batches: list[AcknowledgementBatch] = field(factory=list)


class AcknowledgeTopic(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[AcknowledgePartition] = field(factory=list)


class ShareAcknowledgeRequest(Message, api_key=79, versions="1-2", flexible="1+"):
    group_id: GroupId | None = None
    member_id: Text | None = ""
    share_session_epoch: Int32 = 0
    is_renew_ack: Bool = field(default=False, versions="2+")
    topics: list[AcknowledgeTopic] = field(factory=list)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class PartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    current_leader: LeaderIdAndEpoch = field(factory=LeaderIdAndEpoch)


class ShareAcknowledgeTopicResponse(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionData] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Int32 = 0
    rack: Text | None = None


class ShareAcknowledgeResponse(Message, api_key=79, versions="1-2", flexible="1+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    acquisition_lock_timeout_ms: Int32 = field(default=0, versions="2+")
    responses: list[ShareAcknowledgeTopicResponse] = field(factory=list)
    node_endpoints: list[NodeEndpoint] = field(factory=list)
