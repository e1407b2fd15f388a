"""Returns the log directories of a broker and the sizes of their replicas (KIP-113).

Version 4 has the total and the usable size of the volume (KIP-827). 5 marks cordoned directories
(KIP-1066).
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int16, Int32, Int64, Message, Struct, Text, TopicName, field


class DescribableLogDirTopic(Struct):
    topic: TopicName = ""
    partitions: list[Int32] = field(factory=list)


class DescribeLogDirsRequest(Message, api_key=35, versions="1-5", flexible="2+"):
    topics: list[DescribableLogDirTopic] | None = field(factory=list)


class DescribeLogDirsPartition(Struct):
    partition_index: Int32 = 0
    partition_size: Int64 = 0
    offset_lag: Int64 = 0
    is_future_key: Bool = False


class DescribeLogDirsTopic(Struct):
    name: TopicName = ""
    partitions: list[DescribeLogDirsPartition] = field(factory=list)


class DescribeLogDirsResult(Struct):
    error_code: Int16 = 0
    log_dir: Text = ""
    topics: list[DescribeLogDirsTopic] = field(factory=list)
    total_bytes: Int64 = field(default=-1, versions="4+")
    usable_bytes: Int64 = field(default=-1, versions="4+")
    is_cordoned: Bool = field(default=False, versions="5+")


class DescribeLogDirsResponse(Message, api_key=35, versions="1-5", flexible="2+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(default=0, versions="3+")
    results: list[DescribeLogDirsResult] = field(factory=list)
