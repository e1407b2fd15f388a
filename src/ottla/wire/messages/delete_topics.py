"""Deletes topics.

Version 5 has error messages and may return THROTTLING_QUOTA_EXCEEDED (KIP-599). 6 accepts names or
topic ids (KIP-516).
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Int16, Int32, Message, MessageText, Struct, TopicId, TopicName, field


class DeleteTopicState(Struct):
    name: TopicName | None = None
    topic_id: TopicId = ZERO_UUID


class DeleteTopicsRequest(Message, api_key=20, versions="1-6", flexible="4+"):
    topics: list[DeleteTopicState] = field(factory=list, versions="6+")
    topic_names: list[TopicName] = field(factory=list, versions="1-5")
    timeout_ms: Int32 = 0


class DeletableTopicResult(Struct):
    name: TopicName | None = field(default="", nullable="6+")
    topic_id: TopicId = field(default=ZERO_UUID, versions="6+")
    error_code: Int16 = 0
    error_message: MessageText | None = field(default=None, versions="5+")


class DeleteTopicsResponse(Message, api_key=20, versions="1-6", flexible="4+"):
    throttle_time_ms: Int32 = 0
    responses: list[DeletableTopicResult] = field(factory=list)
