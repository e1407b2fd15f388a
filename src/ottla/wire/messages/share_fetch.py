"""ShareFetch (KIP-932): acquires records of a share group and acknowledges earlier ones.

Version 2 adds the acquire mode (KIP-1206) and the renewal of locks (KIP-1222).
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
    Records,
    Struct,
    Text,
    TopicId,
    field,
)


class AcknowledgementBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    acknowledge_types: list[Int8] = field(factory=list)


class FetchPartition(Struct):
    partition_index: Int32 = 0
    acknowledgement_batches: list[AcknowledgementBatch] = field(factory=list)


class FetchTopic(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[FetchPartition] = field(factory=list)


class ForgottenTopic(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[Int32] = field(factory=list)


class ShareFetchRequest(Message, api_key=78, versions="1-2", flexible="1+"):
    group_id: GroupId | None = None
    member_id: Text | None = ""
    share_session_epoch: Int32 = 0
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Int32 = 2**31 - 1
    max_records: Int32 = 0
    batch_size: Int32 = 0
    share_acquire_mode: Int8 = field(default=0, versions="2+")
    is_renew_ack: Bool = field(default=False, versions="2+")
    topics: list[FetchTopic] = field(factory=list)
    forgotten_topics_data: list[ForgottenTopic] = field(factory=list)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class AcquiredRecords(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_count: Int16 = 0


class PartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    acknowledge_error_code: Int16 = 0
    acknowledge_error_message: MessageText | None = None
    current_leader: LeaderIdAndEpoch = field(factory=LeaderIdAndEpoch)
    records: Records = b""
    acquired_records: list[AcquiredRecords] = field(factory=list)


class ShareFetchableTopicResponse(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionData] = field(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Int32 = 0
    rack: Text | None = None


class ShareFetchResponse(Message, api_key=78, versions="1-2", flexible="1+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    acquisition_lock_timeout_ms: Int32 = 0
    responses: list[ShareFetchableTopicResponse] = field(factory=list)
    node_endpoints: list[NodeEndpoint] = field(factory=list)
