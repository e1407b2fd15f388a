"""Commits a group's offsets as part of a transaction (KIP-98).

Version 3 has the member id and generation, so that zombies are fenced by their group (KIP-447). 4
may return TRANSACTION_ABORTABLE, 5 is TransactionV2 (KIP-890): it needs no preceding
AddOffsetsToTxn.
"""

from __future__ import annotations

from ottla.wire.schema import (
    GroupId,
    Int16,
    Int32,
    Int64,
    Message,
    Struct,
    Text,
    TopicName,
    TransactionalId,
    field,
)


class TxnOffsetCommitRequestPartition(Struct):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Int32 = field(default=-1, versions="2+")
    committed_metadata: Text | None = ""


class TxnOffsetCommitRequestTopic(Struct):
    name: TopicName = ""
    partitions: list[TxnOffsetCommitRequestPartition] = field(factory=list)


class TxnOffsetCommitRequest(Message, api_key=28, versions="0-5", flexible="3+"):
    transactional_id: TransactionalId = ""
    group_id: GroupId = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    generation_id: Int32 = field(default=-1, versions="3+")
    member_id: Text = field(default="", versions="3+")
    group_instance_id: Text | None = field(default=None, versions="3+")
    topics: list[TxnOffsetCommitRequestTopic] = field(factory=list)


class TxnOffsetCommitResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class TxnOffsetCommitResponseTopic(Struct):
    name: TopicName = ""
    partitions: list[TxnOffsetCommitResponsePartition] = field(factory=list)


class TxnOffsetCommitResponse(Message, api_key=28, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32 = 0
    topics: list[TxnOffsetCommitResponseTopic] = field(factory=list)
