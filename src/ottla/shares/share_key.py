"""The key of a share group's state in one partition."""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import ErrorCode, KafkaError, Uuid, uuid_from_text, uuid_to_text


class ShareKey(NamedTuple):
    group_id: str
    topic_id: Uuid
    partition: int

    @property
    def text(self) -> str:
        """The key by which FindCoordinator finds the share coordinator."""
        return f"{self.group_id}:{uuid_to_text(self.topic_id)}:{self.partition}"


def parse_share_key(text: str) -> ShareKey:
    """Raises `KafkaError` if the text is not a share coordinator's key."""
    group_id, _, rest = text.rpartition(":")
    group_id, _, topic_id = group_id.rpartition(":")
    try:
        key = ShareKey(group_id, uuid_from_text(topic_id), int(rest))
    except ValueError:
        key = None
    if key is None or not group_id.strip():
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"{text!r} is not the key of a share partition: expected group:topic id:partition",
        )
    return key
