"""Moves replicas between the log directories of a broker (KIP-113)."""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Message, Struct, Text, TopicName, field


class AlterReplicaLogDirTopic(Struct):
    name: TopicName = ""
    partitions: list[Int32] = field(factory=list)


class AlterReplicaLogDir(Struct):
    path: Text = ""
    topics: list[AlterReplicaLogDirTopic] = field(factory=list)


class AlterReplicaLogDirsRequest(Message, api_key=34, versions="1-2", flexible="2+"):
    dirs: list[AlterReplicaLogDir] = field(factory=list)


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: TopicName = ""
    partitions: list[AlterReplicaLogDirPartitionResult] = field(factory=list)


class AlterReplicaLogDirsResponse(Message, api_key=34, versions="1-2", flexible="2+"):
    throttle_time_ms: Int32 = 0
    results: list[AlterReplicaLogDirTopicResult] = field(factory=list)
