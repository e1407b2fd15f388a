"""Share groups in `__consumer_offsets` (KIP-932)."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int8, Int32, Int64, Message, String, Struct, Uuid, field


class ShareGroupMemberMetadataKey(Message, api_key=10, versions="0"):
    group_id: String = ""
    member_id: String = ""


class ShareGroupMemberMetadataValue(Message, api_key=10, versions="0", flexible="0+"):
    rack_id: String | None = ""
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = field(factory=list)


class ShareGroupMetadataKey(Message, api_key=11, versions="0"):
    group_id: String = ""


class ShareGroupMetadataValue(Message, api_key=11, versions="0", flexible="0+"):
    epoch: Int32 = 0
    metadata_hash: Int64 = 0


class ShareGroupTargetAssignmentMetadataKey(Message, api_key=12, versions="0"):
    group_id: String = ""


class ShareGroupTargetAssignmentMetadataValue(Message, api_key=12, versions="0", flexible="0+"):
    assignment_epoch: Int32 = 0
    assignment_timestamp: Int64 = field(default=0, tag=0)


class ShareGroupTargetAssignmentMemberKey(Message, api_key=13, versions="0"):
    group_id: String = ""
    member_id: String = ""


class TopicPartition(Struct):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = field(factory=list)


class ShareGroupTargetAssignmentMemberValue(Message, api_key=13, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition] = field(factory=list)


class ShareGroupCurrentMemberAssignmentKey(Message, api_key=14, versions="0"):
    group_id: String = ""
    member_id: String = ""


class TopicPartitions(Struct):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = field(factory=list)


class ShareGroupCurrentMemberAssignmentValue(Message, api_key=14, versions="0", flexible="0+"):
    member_epoch: Int32 = 0
    previous_member_epoch: Int32 = 0
    state: Int8 = 0
    assigned_partitions: list[TopicPartitions] = field(factory=list)


class ShareGroupStatePartitionMetadataKey(Message, api_key=15, versions="0"):
    group_id: String = ""


class TopicPartitionsInfo(Struct):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""
    partitions: list[Int32] = field(factory=list)


class TopicInfo(Struct):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""


class ShareGroupStatePartitionMetadataValue(Message, api_key=15, versions="0", flexible="0+"):
    initializing_topics: list[TopicPartitionsInfo] = field(factory=list)
    initialized_topics: list[TopicPartitionsInfo] = field(factory=list)
    deleting_topics: list[TopicInfo] = field(factory=list)
