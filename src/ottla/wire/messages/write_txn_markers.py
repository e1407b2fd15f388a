"""Writes transaction markers: a coordinator's request to the partition leaders (KIP-98).

Version 2 has the transaction version (KIP-1228): with TransactionV2 a marker's epoch is higher than
that of its records.
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int8, Int16, Int32, Int64, Message, Struct, TopicName, field


class WritableTxnMarkerTopic(Struct):
    name: TopicName = ""
    partition_indexes: list[Int32] = field(factory=list)


class WritableTxnMarker(Struct):
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    transaction_result: Bool = False
    topics: list[WritableTxnMarkerTopic] = field(factory=list)
    coordinator_epoch: Int32 = 0
    transaction_version: Int8 = field(default=0, versions="2+")


class WriteTxnMarkersRequest(Message, api_key=27, versions="1-2", flexible="1+"):
    markers: list[WritableTxnMarker] = field(factory=list)


class WritableTxnMarkerPartitionResult(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class WritableTxnMarkerTopicResult(Struct):
    name: TopicName = ""
    partitions: list[WritableTxnMarkerPartitionResult] = field(factory=list)


class WritableTxnMarkerResult(Struct):
    producer_id: Int64 = 0
    topics: list[WritableTxnMarkerTopicResult] = field(factory=list)


class WriteTxnMarkersResponse(Message, api_key=27, versions="1-2", flexible="1+"):
    markers: list[WritableTxnMarkerResult] = field(factory=list)
