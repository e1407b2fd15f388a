"""WriteShareGroupState (KIP-932): changes of the state of share partitions.

Version 1 adds the number of records whose delivery is complete (KIP-1226).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    GroupId,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    MessageText,
    Struct,
    TopicId,
    field,
)


class StateBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_state: Int8 = 0
    delivery_count: Int16 = 0


class PartitionData(Struct):
    partition: Int32 = 0
    state_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Int32 = field(default=-1, versions="1+")
    state_batches: list[StateBatch] = field(factory=list)


class WriteStateData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionData] = field(factory=list)


class WriteShareGroupStateRequest(Message, api_key=85, versions="0-1", flexible="0+"):
    group_id: GroupId = ""
    topics: list[WriteStateData] = field(factory=list)


class PartitionResult(Struct):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None


class WriteStateResult(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionResult] = field(factory=list)


class WriteShareGroupStateResponse(Message, api_key=85, versions="0-1", flexible="0+"):
    results: list[WriteStateResult] = field(factory=list)
