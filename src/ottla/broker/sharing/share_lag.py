"""The start offsets of a share group, and how many records it has left (KIP-1226)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.sharing.group_states import collect
from ottla.channels import versions
from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, TopicPartition, Uuid
from ottla.replication.partitions import Partitions
from ottla.shares.share_key import ShareKey
from ottla.wire.messages import list_offsets as offsets_wire
from ottla.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)

if TYPE_CHECKING:
    from ottla.broker.coordinators.share_states import ShareStates

_LATEST: Final = -1
_NO_REPLICA: Final = -1
_UNKNOWN: Final = -1
_TIMEOUT_MS: Final = 5_000


class ShareLags:
    """Created with the first request."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        peers: BrokerPeers,
        states: ShareStates,
    ) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._peers = peers
        self._states = states

    async def describe(
        self, group_id: str, wanted: Mapping[str, Iterable[int]]
    ) -> list[DescribeShareGroupOffsetsResponseTopic]:
        """Describes partitions of existing topics, by topic name."""
        by_name = self._cluster.image.topics.by_name
        keys = [
            ShareKey(group_id, by_name[name].id, number)
            for name, numbers in wanted.items()
            for number in numbers
        ]

        def call_of(key: ShareKey) -> Callable[[Callable[[Any], None]], None]:
            return lambda callback: self._states.summary(key, callback)

        results = await collect([call_of(key) for key in keys])
        summaries = dict(zip(keys, results, strict=True))
        names = {by_name[name].id: name for name in wanted}
        ends = await self._end_offsets(
            [
                TopicPartition(names[key.topic_id], key.partition)
                for key, summary in summaries.items()
                if _has_lag(summary)
            ]
        )
        topics: dict[Uuid, DescribeShareGroupOffsetsResponseTopic] = {}
        for key, summary in summaries.items():
            name = names[key.topic_id]
            topic = topics.setdefault(
                key.topic_id,
                DescribeShareGroupOffsetsResponseTopic(topic_name=name, topic_id=key.topic_id),
            )
            end = ends.get(TopicPartition(name, key.partition))
            topic.partitions.append(_described(summary, end))
        return list(topics.values())

    async def _end_offsets(self, names: list[TopicPartition]) -> dict[TopicPartition, int | None]:
        """The high watermarks; None where the leader cannot be reached."""
        found: dict[TopicPartition, int | None] = {}
        elsewhere: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for name in names:
            partition = self._partitions.get(name)
            if partition is not None and partition.is_leader and partition.log is not None:
                found[name] = partition.log.high_watermark
            else:
                topic = self._cluster.image.topics.by_name[name.topic]
                elsewhere[topic.partitions[name.partition].leader].append(name)
        for node_id, there in elsewhere.items():
            found |= dict.fromkeys(there, None)
            if node_id in self._cluster.image.brokers and node_id != self._cluster.node_id:
                found |= await self._ask(node_id, there)
        return found

    async def _ask(
        self, node_id: int, names: list[TopicPartition]
    ) -> dict[TopicPartition, int | None]:
        request = offsets_wire.ListOffsetsRequest(
            replica_id=_NO_REPLICA,
            topics=[
                offsets_wire.ListOffsetsTopic(
                    name=name.topic,
                    partitions=[
                        offsets_wire.ListOffsetsPartition(
                            partition_index=name.partition, timestamp=_LATEST
                        )
                    ],
                )
                for name in names
            ],
            timeout_ms=_TIMEOUT_MS,
        )
        try:
            response = await self._peers.send(
                node_id, PeerLane.SHARES, request, versions.LIST_OFFSETS, timeout_ms=_TIMEOUT_MS
            )
        except ChannelError:
            return {}
        return {
            TopicPartition(topic.name, each.partition_index): None
            if each.error_code
            else each.offset
            for topic in response.topics
            for each in topic.partitions
        }


def _has_lag(summary: Any) -> bool:
    return not summary.error_code and _UNKNOWN not in (
        summary.start_offset,
        summary.delivery_complete_count,
    )


def _described(summary: Any, end_offset: int | None) -> DescribeShareGroupOffsetsResponsePartition:
    described = DescribeShareGroupOffsetsResponsePartition(
        partition_index=summary.partition, start_offset=_UNKNOWN, lag=_UNKNOWN
    )
    if summary.error_code:
        return described
    if _has_lag(summary):
        if end_offset is None:
            described.error_code = ErrorCode.LEADER_NOT_AVAILABLE
            described.error_message = "the partition's leader cannot be reached; try again"
            return described
        described.lag = end_offset - summary.start_offset - summary.delivery_complete_count
    described.start_offset = summary.start_offset
    described.leader_epoch = summary.leader_epoch
    return described
