"""InitializeShareGroupState (KIP-932): creates or replaces the state of share partitions.

Sent by the group coordinator to the share coordinator.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    GroupId,
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
    state_epoch: Int32 = 0
    start_offset: Int64 = 0


class InitializeStateData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionData] = field(factory=list)


class InitializeShareGroupStateRequest(Message, api_key=83, versions="0", flexible="0+"):
    group_id: GroupId = ""
    topics: list[InitializeStateData] = field(factory=list)


class PartitionResult(Struct):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None


class InitializeStateResult(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionResult] = field(factory=list)


class InitializeShareGroupStateResponse(Message, api_key=83, versions="0", flexible="0+"):
    results: list[InitializeStateResult] = field(factory=list)
