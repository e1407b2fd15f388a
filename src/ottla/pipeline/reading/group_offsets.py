"""Commits a query's progress as the offsets of a consumer group, so Kafka's tools show its lag.

A query resumes from Spark's checkpoint, never from these offsets. So a failed commit is logged and
does not stop the query; the next commit replaces it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.model import TopicPartition
from ottla.pipeline.reading.cluster import SourceCluster, require
from ottla.pipeline.reading.errors import ClusterError
from ottla.pipeline.reading.positions import PerPartition
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

_log = logging.getLogger(__name__)

# The last version with topic names; later ones have topic ids.
_OFFSET_COMMIT_VERSION: Final = 9
# By default the offsets of a group without members expire seven days after their commit, and a
# query may have nothing to read for longer than that.
_AGAIN_AFTER_S: Final = 3600.0


async def commit_offsets(
    cluster: SourceCluster, group_id: str, offsets: Mapping[TopicPartition, int]
) -> None:
    """Raises ClusterError."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for partition, offset in sorted(offsets.items()):
        topics.setdefault(partition.topic, []).append(
            OffsetCommitRequestPartition(
                partition_index=partition.partition, committed_offset=offset
            )
        )
    request = OffsetCommitRequest(
        group_id=group_id,
        topics=[
            OffsetCommitRequestTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )

    async def attempt() -> None:
        coordinator = await cluster.coordinator(group_id)
        response: Any = await coordinator.send_request(request, version_max=_OFFSET_COMMIT_VERSION)
        for topic in response.topics:
            for each in topic.partitions:
                place = f"{topic.name}-{each.partition_index}"
                require(each.error_code, f"committing the offset of {place} for group {group_id}")

    await cluster.persist(attempt)


class GroupOffsets:
    """Commits a query's offsets after each batch. `commit` sends them and may raise ClusterError.

    Unchanged offsets are committed again after an hour, so that they do not expire.
    """

    def __init__(
        self, commit: Callable[[PerPartition], None], monotonic: Callable[[], float]
    ) -> None:
        self._commit = commit
        self._monotonic = monotonic
        self._committed: PerPartition = {}
        self._committed_at = 0.0

    def reached(self, offsets: PerPartition) -> None:
        now = self._monotonic()
        if offsets == self._committed and now - self._committed_at < _AGAIN_AFTER_S:
            return
        try:
            self._commit(offsets)
        except ClusterError as error:
            _log.warning(
                "offset commit failed; the reported lag is stale, the query continues: %s", error
            )
            return
        self._committed, self._committed_at = dict(offsets), now
