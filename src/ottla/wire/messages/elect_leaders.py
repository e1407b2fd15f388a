"""Elects preferred leaders of partitions (KIP-183); version 1 also unclean ones (KIP-460)."""

from __future__ import annotations

from ottla.wire.schema import Int8, Int16, Int32, Message, MessageText, Struct, TopicName, field


class TopicPartitions(Struct):
    topic: TopicName = ""
    partitions: list[Int32] = field(factory=list)


class ElectLeadersRequest(Message, api_key=43, versions="0-2", flexible="2+"):
    election_type: Int8 = field(default=0, versions="1+")
    topic_partitions: list[TopicPartitions] | None = field(factory=list)
    timeout_ms: Int32 = 60000


class PartitionResult(Struct):
    partition_id: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""


class ReplicaElectionResult(Struct):
    topic: TopicName = ""
    partition_result: list[PartitionResult] = field(factory=list)


class ElectLeadersResponse(Message, api_key=43, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(default=0, versions="1+")
    replica_election_results: list[ReplicaElectionResult] = field(factory=list)
