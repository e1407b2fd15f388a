"""A partition of a fetch request, with the offsets last sent to the client."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.model import Uuid
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, PartitionData


@dataclass(slots=True)
class SessionPartition:
    """A fetched partition. `sent` holds the high watermark, last stable offset and log start offset
    last sent to the client."""

    topic: str
    topic_id: Uuid
    request: FetchPartition
    sent: tuple[int, int, int] | None = None

    @property
    def key(self) -> tuple[str, Uuid, int]:
        return self.topic, self.topic_id, self.request.partition

    def has_changes(self, answer: PartitionData) -> bool:
        """Whether an incremental response must include this partition. Stores the sent offsets."""
        offsets = (answer.high_watermark, answer.last_stable_offset, answer.log_start_offset)
        has_changed = offsets != self.sent
        self.sent = offsets
        return bool(
            has_changed or answer.error_code or answer.records or answer.diverging_epoch is not None
        )


def wanted_of(request: FetchRequest) -> list[SessionPartition]:
    return [
        SessionPartition(topic.topic, topic.topic_id, partition)
        for topic in request.topics
        for partition in topic.partitions
    ]
