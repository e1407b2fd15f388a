"""DeleteShareGroupState (KIP-932): deletes the state of share partitions."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import GroupId, Int16, Int32, Message, MessageText, Struct, TopicId, field


class PartitionData(Struct):
    partition: Int32 = 0


class DeleteStateData(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionData] = field(factory=list)


class DeleteShareGroupStateRequest(Message, api_key=86, versions="0", flexible="0+"):
    group_id: GroupId = ""
    topics: list[DeleteStateData] = field(factory=list)


class PartitionResult(Struct):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None


class DeleteStateResult(Struct):
    topic_id: TopicId = ZERO_UUID
    partitions: list[PartitionResult] = field(factory=list)


class DeleteShareGroupStateResponse(Message, api_key=86, versions="0", flexible="0+"):
    results: list[DeleteStateResult] = field(factory=list)
