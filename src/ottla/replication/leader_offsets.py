"""Requests the leader's log start and end offsets, after a follower's fetch was out of range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.channels import versions
from ottla.model import ErrorCode, NodeId, TopicPartition
from ottla.replication.follower_context import LeaderPeer
from ottla.replication.partition import Partition
from ottla.storage.log.offset_lookup import SpecialTimestamp
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)


class LeaderOffsets(NamedTuple):
    start: int
    end: int


async def leader_offsets(
    peer: LeaderPeer, partitions: Sequence[Partition], *, node_id: NodeId, timeout_ms: int
) -> dict[TopicPartition, LeaderOffsets]:
    """The offsets of the partitions for which the leader returned both without an error. Raises
    ChannelError if the leader is unreachable."""
    found = []
    for timestamp in (SpecialTimestamp.EARLIEST, SpecialTimestamp.LATEST):
        request = _request(partitions, timestamp, node_id)
        response = await peer.send(request, versions.LIST_OFFSETS, timeout_ms=timeout_ms)
        found.append(_offsets(response))
    starts, ends = found
    return {
        name: LeaderOffsets(start, ends[name]) for name, start in starts.items() if name in ends
    }


def _request(
    partitions: Sequence[Partition], timestamp: SpecialTimestamp, node_id: NodeId
) -> ListOffsetsRequest:
    topics: dict[str, ListOffsetsTopic] = {}
    for each in partitions:
        topic = topics.setdefault(each.name.topic, ListOffsetsTopic(name=each.name.topic))
        topic.partitions.append(
            ListOffsetsPartition(
                partition_index=each.name.partition,
                current_leader_epoch=each.leader_epoch,
                timestamp=timestamp,
            )
        )
    return ListOffsetsRequest(replica_id=node_id, topics=list(topics.values()))


def _offsets(response: ListOffsetsResponse) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, each.partition_index): each.offset
        for topic in response.topics
        for each in topic.partitions
        if each.error_code == ErrorCode.NONE and each.offset >= 0
    }
