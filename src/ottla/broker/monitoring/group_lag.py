"""The lag of the groups that this node coordinates.

The coordinator knows the committed offsets, a partition's leader the high watermark. So that there
is one series for each group and partition, the coordinator exports the lag. Before each scrape it
requests the high watermarks of the partitions that other nodes lead (ListOffsets, as a consumer
would), so that the lag is that of the moment of the scrape, as `kafka-consumer-groups` shows it. A
partition whose leader does not answer in time has no lag until the next scrape.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.monitoring.offset_history import OffsetHistory
from ottla.channels import ChannelError, versions
from ottla.metadata import NO_LEADER
from ottla.model import ErrorCode, TopicPartition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.storage.log.offset_lookup import SpecialTimestamp
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

_log = logging.getLogger(__name__)

# A leader answers that many in about a millisecond.
_PARTITIONS_PER_REQUEST: Final = 200
_STEP: Final = 200
_CONSUMER: Final = -1
_ANY_EPOCH: Final = -1


class CommittedOffsets(Protocol):
    def __call__(self) -> Iterator[tuple[str, TopicPartition, int] | None]:
        """Group, partition and committed offset of all groups that this node coordinates; None at
        places to pause."""


class GroupLag:
    """Owned by the node's loop. `refresh` before reading."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        peers: BrokerPeers,
        clock: Clock,
        committed: CommittedOffsets,
        pause: Callable[[], Any],
        *,
        seconds_max: float,
    ) -> None:
        """`seconds_max` is how long a refresh waits for other nodes."""
        self._cluster = cluster
        self._partitions = partitions
        self._peers = peers
        self._clock = clock
        self._committed = committed
        self._pause = pause
        self._seconds_max = seconds_max
        # Of the partitions with committed offsets whose high watermark is known.
        self._high_watermarks: dict[TopicPartition, int] = {}
        self._histories: dict[TopicPartition, OffsetHistory] = {}

    def records(self, partition: TopicPartition, committed: int) -> int | None:
        """None if the high watermark is not known. What was committed after the high watermark was
        requested is no lag."""
        known = self._high_watermark_here(partition)
        if known is None:
            known = self._high_watermarks.get(partition)
        return None if known is None else max(known - committed, 0)

    def seconds(self, partition: TopicPartition, committed: int) -> float | None:
        history = self._histories.get(partition)
        if partition not in self._high_watermarks or history is None:
            return None
        return history.seconds_since(committed, self._clock.monotonic())

    async def refresh(self) -> None:
        """Finds the high watermarks of all partitions with committed offsets."""
        lowest = await self._lowest_offsets()
        found: dict[TopicPartition, int] = {}
        of_leaders: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for number, partition in enumerate(lowest):
            here = self._high_watermark_here(partition)
            leader = self._leader_of(partition)
            if here is not None:
                found[partition] = here
            elif leader not in (NO_LEADER, self._cluster.node_id):
                of_leaders[leader].append(partition)
            if number % _STEP == 0:
                await self._pause()
        await self._request_all(of_leaders, found)
        await self._remember(found, lowest)

    async def _lowest_offsets(self) -> dict[TopicPartition, int]:
        """The lowest offset that a group has committed, by partition."""
        lowest: dict[TopicPartition, int] = {}
        for each in self._committed():
            if each is None:
                await self._pause()
                continue
            _, partition, offset = each
            known = lowest.get(partition)
            lowest[partition] = offset if known is None else min(known, offset)
        return lowest

    async def _remember(
        self, found: dict[TopicPartition, int], lowest: dict[TopicPartition, int]
    ) -> None:
        now = self._clock.monotonic()
        histories: dict[TopicPartition, OffsetHistory] = {}
        for number, (partition, offset) in enumerate(lowest.items()):
            history = self._histories.get(partition) or OffsetHistory()
            if partition in found:
                history.observe(found[partition], now)
            history.forget_below(offset)
            histories[partition] = history
            if number % _STEP == 0:
                await self._pause()
        self._high_watermarks, self._histories = found, histories

    def _high_watermark_here(self, name: TopicPartition) -> int | None:
        """If this node leads the partition, and knows what its predecessor has committed."""
        partition = self._partitions.get(name)
        if partition is None or not partition.is_leader or partition.log is None:
            return None
        return partition.log.high_watermark if partition.is_high_watermark_settled else None

    def _leader_of(self, name: TopicPartition) -> int:
        topic = self._cluster.image.topics.by_name.get(name.topic)
        registration = None if topic is None else topic.partitions.get(name.partition)
        return NO_LEADER if registration is None else registration.leader

    async def _request_all(
        self, of_leaders: dict[int, list[TopicPartition]], found: dict[TopicPartition, int]
    ) -> None:
        """Adds the high watermarks that the leaders return in time to `found`."""
        requests = [
            asyncio.ensure_future(self._request(leader, names, found))
            for leader, names in of_leaders.items()
        ]
        try:
            if requests:
                await asyncio.wait(requests, timeout=self._seconds_max)
        finally:
            for request in requests:
                request.cancel()

    async def _request(
        self, leader: int, names: list[TopicPartition], found: dict[TopicPartition, int]
    ) -> None:
        for start in range(0, len(names), _PARTITIONS_PER_REQUEST):
            some = names[start : start + _PARTITIONS_PER_REQUEST]
            try:
                response = await self._peers.send(
                    leader,
                    PeerLane.MONITORING,
                    _request_for(some),
                    versions.LIST_OFFSETS,
                    timeout_ms=int(self._seconds_max * 1_000),
                )
            except ChannelError as error:
                _log.debug("node %d has not returned its high watermarks: %s", leader, error)
                return
            found.update(_offsets(response))


def _request_for(names: Sequence[TopicPartition]) -> ListOffsetsRequest:
    topics: dict[str, ListOffsetsTopic] = {}
    for name in names:
        topic = topics.setdefault(name.topic, ListOffsetsTopic(name=name.topic))
        topic.partitions.append(
            ListOffsetsPartition(
                partition_index=name.partition,
                current_leader_epoch=_ANY_EPOCH,
                timestamp=SpecialTimestamp.LATEST,
            )
        )
    return ListOffsetsRequest(replica_id=_CONSUMER, topics=list(topics.values()))


def _offsets(response: ListOffsetsResponse) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, each.partition_index): each.offset
        for topic in response.topics
        for each in topic.partitions
        if each.error_code == ErrorCode.NONE and each.offset >= 0
    }
