"""The user that created a topic, in the record of the topic: for the limits of users.

Kafka's record has no such field. It is a tagged field with a number far above Kafka's own ones, and
other readers skip it.
"""

from __future__ import annotations

from typing import Final

from ottla.model import Uuid
from ottla.wire.stored.cluster_metadata.topics import TopicRecord

_OWNER_TAG: Final = 10_000


def topic_record(name: str, topic_id: Uuid, owner: str) -> TopicRecord:
    record = TopicRecord(name=name, topic_id=topic_id)
    if owner:
        record.unknown_tags = {_OWNER_TAG: owner.encode()}
    return record


def owner_of(record: TopicRecord) -> str:
    """Empty if it is not known."""
    return (record.unknown_tags or {}).get(_OWNER_TAG, b"").decode(errors="replace")
