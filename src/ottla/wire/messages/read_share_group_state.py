"""ReadShareGroupState (KIP-932): the state of share partitions, for their leader.

A newer leader epoch in the request fences earlier leaders.
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


class PartitionData(Struct):
    partition: Int32 = 0
    leader_epoch: Int32 = 0


class ReadStateData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionData] = field(factory=list)


class ReadShareGroupStateRequest(Message, api_key=84, versions="0", flexible="0+"):
    group_id: GroupId = ""
    topics: list[ReadStateData] = field(factory=list)


class StateBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_state: Int8 = 0
    delivery_count: Int16 = 0


class PartitionResult(Struct):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    state_epoch: Int32 = 0
    start_offset: Int64 = 0
    state_batches: list[StateBatch] = field(factory=list)


class ReadStateResult(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionResult] = field(factory=list)


class ReadShareGroupStateResponse(Message, api_key=84, versions="0", flexible="0+"):
    results: list[ReadStateResult] = field(factory=list)
