"""Returns the brokers, the topics and the leaders of their partitions.

In version 0 an empty list requests all topics, from 1 on null does. 4 can forbid the automatic
creation of topics. 10 returns topic ids, 12 accepts them in requests (KIP-516). 8 to 10 return the
caller's authorized operations on the cluster; now DescribeCluster does (KIP-700). 13 can tell a
client to rebootstrap (KIP-1102).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Bool, Int16, Int32, Message, Struct, Text, TopicId, TopicName, field


class MetadataRequestTopic(Struct):
    topic_id: TopicId = field(default=ZERO_UUID, versions="10+")
    name: TopicName | None = field(default="", nullable="10+")


class MetadataRequest(Message, api_key=3, versions="0-13", flexible="9+"):
    topics: list[MetadataRequestTopic] | None = field(factory=list, nullable="1+")
    allow_auto_topic_creation: Bool = field(default=True, versions="4+")
    include_cluster_authorized_operations: Bool = field(default=False, versions="8-10")
    include_topic_authorized_operations: Bool = field(default=False, versions="8+")


class MetadataResponseBroker(Struct):
    node_id: Int32 = 0
    host: Text = ""
    port: Int32 = 0
    rack: Text | None = field(default=None, versions="1+")


class MetadataResponsePartition(Struct):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = field(default=-1, versions="7+")
    replica_nodes: list[Int32] = field(factory=list)
    isr_nodes: list[Int32] = field(factory=list)
    offline_replicas: list[Int32] = field(factory=list, versions="5+")


class MetadataResponseTopic(Struct):
    error_code: Int16 = 0
    name: TopicName | None = field(default="", nullable="12+")
    topic_id: TopicId = field(default=ZERO_UUID, versions="10+")
    is_internal: Bool = field(default=False, versions="1+")
    partitions: list[MetadataResponsePartition] = field(factory=list)
    topic_authorized_operations: Int32 = field(default=-(2**31), versions="8+")


class MetadataResponse(Message, api_key=3, versions="0-13", flexible="9+"):
    throttle_time_ms: Int32 = field(default=0, versions="3+")
    brokers: list[MetadataResponseBroker] = field(factory=list)
    cluster_id: Text | None = field(default=None, versions="2+")
    controller_id: Int32 = field(default=-1, versions="1+")
    topics: list[MetadataResponseTopic] = field(factory=list)
    cluster_authorized_operations: Int32 = field(default=-(2**31), versions="8-10")
    error_code: Int16 = field(default=0, versions="13+")
