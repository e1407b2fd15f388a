"""DeleteShareGroupOffsets (KIP-932): deletes the offsets of a share group for whole topics."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    GroupId,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    TopicId,
    TopicName,
    field,
)


class DeleteShareGroupOffsetsRequestTopic(Struct):
    topic_name: TopicName = ""


class DeleteShareGroupOffsetsRequest(Message, api_key=92, versions="0", flexible="0+"):
    group_id: GroupId = ""
    topics: list[DeleteShareGroupOffsetsRequestTopic] = field(factory=list)


class DeleteShareGroupOffsetsResponseTopic(Struct):
    topic_name: TopicName = ""
    topic_id: TopicId = ZERO_UUID
    error_code: Int16 = 0
    error_message: MessageText | None = None


class DeleteShareGroupOffsetsResponse(Message, api_key=92, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    responses: list[DeleteShareGroupOffsetsResponseTopic] = field(factory=list)
