"""How far a query has come, committed as the offsets of a group, where Kafka's users look for lag.

Spark's checkpoint decides where a query goes on; these offsets only tell. So a commit that fails is
logged and never stops the query: the next one says more anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.model import TopicPartition
from ottla.pipeline.reading.cluster import GROUP, SourceCluster, require
from ottla.pipeline.reading.errors import ClusterError
from ottla.pipeline.reading.positions import PerPartition
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

_log = logging.getLogger(__name__)

# The last one with topics' names.
_OFFSET_COMMIT_VERSION: Final = 9
# A group without members forgets its offsets seven days after they were committed, and a query may
# have nothing to read for longer than that.
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
        coordinator = await cluster.coordinator(group_id, key_type=GROUP)
        response: Any = await coordinator.ask(request, version_max=_OFFSET_COMMIT_VERSION)
        for topic in response.topics:
            for each in topic.partitions:
                place = f"{topic.name}-{each.partition_index}"
                require(each.error_code, f"committing the offset of {place} for group {group_id}")

    await cluster.persist(attempt)


class GroupOffsets:
    """Told after each batch how far the query is; `commit` sends it, and may raise ClusterError."""

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
            _log.warning("the group shows an old lag of this query, which goes on: %s", error)
            return
        self._committed, self._committed_at = dict(offsets), now
