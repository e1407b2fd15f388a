"""Changes the in-sync replicas of partitions: a leader's request to the controller (KIP-497).

Version 2 has topic ids (KIP-841). 3 sends the brokers' epochs with the replicas (KIP-903).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int8, Int16, Int32, Int64, Message, Struct, TopicId, field


class BrokerState(Struct):
    broker_id: Int32 = 0
    broker_epoch: Int64 = -1


class AlterPartitionRequestPartitionData(Struct):
    partition_index: Int32 = 0
    leader_epoch: Int32 = 0
    new_isr: list[Int32] = field(factory=list, versions="2")
    new_isr_with_epochs: list[BrokerState] = field(factory=list, versions="3+")
    leader_recovery_state: Int8 = 0
    partition_epoch: Int32 = 0


class AlterPartitionRequestTopicData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[AlterPartitionRequestPartitionData] = field(factory=list)


class AlterPartitionRequest(Message, api_key=56, versions="2-3", flexible="2+"):
    broker_id: Int32 = 0
    broker_epoch: Int64 = -1
    topics: list[AlterPartitionRequestTopicData] = field(factory=list)


class AlterPartitionResponsePartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0
    isr: list[Int32] = field(factory=list)
    leader_recovery_state: Int8 = 0
    partition_epoch: Int32 = 0


class AlterPartitionResponseTopicData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[AlterPartitionResponsePartitionData] = field(factory=list)


class AlterPartitionResponse(Message, api_key=56, versions="2-3", flexible="2+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    topics: list[AlterPartitionResponseTopicData] = field(factory=list)
