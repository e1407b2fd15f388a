"""A broker reports the log directory of each replica to the controller (KIP-858)."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int16, Int32, Int64, Message, Struct, TopicId, Uuid, field


class AssignReplicasToDirsRequestPartitionData(Struct):
    partition_index: Int32 = 0


class AssignReplicasToDirsRequestTopicData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[AssignReplicasToDirsRequestPartitionData] = field(factory=list)


class AssignReplicasToDirsRequestDirectoryData(Struct):
    id: Uuid = ZERO_UUID
    topics: list[AssignReplicasToDirsRequestTopicData] = field(factory=list)


class AssignReplicasToDirsRequest(Message, api_key=73, versions="0", flexible="0+"):
    broker_id: Int32 = 0
    broker_epoch: Int64 = -1
    directories: list[AssignReplicasToDirsRequestDirectoryData] = field(factory=list)


class AssignReplicasToDirsResponsePartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class AssignReplicasToDirsResponseTopicData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[AssignReplicasToDirsResponsePartitionData] = field(factory=list)


class AssignReplicasToDirsResponseDirectoryData(Struct):
    id: Uuid = ZERO_UUID
    topics: list[AssignReplicasToDirsResponseTopicData] = field(factory=list)


class AssignReplicasToDirsResponse(Message, api_key=73, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    directories: list[AssignReplicasToDirsResponseDirectoryData] = field(factory=list)
