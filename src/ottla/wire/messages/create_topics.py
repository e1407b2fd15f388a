"""Creates topics.

Version 4 can use the broker's defaults for the numbers of partitions and replicas (KIP-464). 5
returns the configs (KIP-525). 6 may return THROTTLING_QUOTA_EXCEEDED (KIP-599). 7 returns the topic
id (KIP-516).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
    Int8,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    Text,
    TopicId,
    TopicName,
    field,
)


class CreatableReplicaAssignment(Struct):
    partition_index: Int32 = 0
    broker_ids: list[Int32] = field(factory=list)


class CreatableTopicConfig(Struct):
    name: Text = ""
    value: Text | None = ""


class CreatableTopic(Struct):
    name: TopicName = ""
    num_partitions: Int32 = 0
    replication_factor: Int16 = 0
    assignments: list[CreatableReplicaAssignment] = field(factory=list)
    configs: list[CreatableTopicConfig] = field(factory=list)


class CreateTopicsRequest(Message, api_key=19, versions="2-7", flexible="5+"):
    topics: list[CreatableTopic] = field(factory=list)
    timeout_ms: Int32 = 60000
    validate_only: Bool = False


class CreatableTopicConfigs(Struct):
    name: Text = ""
    value: Text | None = ""
    read_only: Bool = False
    config_source: Int8 = -1
    is_sensitive: Bool = False


class CreatableTopicResult(Struct):
    name: TopicName = ""
    topic_id: TopicId = field(default=ZERO_UUID, versions="7+")
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    topic_config_error_code: Int16 = field(default=0, versions="5+", tag=0)
    num_partitions: Int32 = field(default=-1, versions="5+")
    replication_factor: Int16 = field(default=-1, versions="5+")
    configs: list[CreatableTopicConfigs] | None = field(factory=list, versions="5+")


class CreateTopicsResponse(Message, api_key=19, versions="2-7", flexible="5+"):
    throttle_time_ms: Int32 = 0
    topics: list[CreatableTopicResult] = field(factory=list)
