"""Asks the leaders of partitions for offsets: by timestamp, and the ends of leader epochs."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster
from ottla.client.consuming.record_queue import ReadPosition
from ottla.client.errors import error_for
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

_CONSUMER: Final = -1
_NOT_FOUND: Final = -1

_T = TypeVar("_T")
# What is asked for a partition, and the leader epoch in which its leader has to answer.
_Asked = tuple[int, int]


class OffsetAndTimestamp(NamedTuple):
    """The first record with a timestamp that is not before the one asked for."""

    offset: int
    timestamp: int
    leader_epoch: int = -1


class Answers(NamedTuple):
    """Of one attempt: what was found, and the failure of each other partition."""

    found: dict[TopicPartition, OffsetAndTimestamp | None]
    failed: dict[TopicPartition, ChannelError | KafkaError]


class OffsetLookup:
    """`isolation` is that of the consumer: with read_committed, a log ends at its last stable
    offset."""

    def __init__(self, cluster: ClientCluster, *, isolation: int) -> None:
        self._cluster = cluster
        self._isolation = isolation

    async def find(
        self, wanted: Mapping[TopicPartition, int], *, deadline: float
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """By timestamp, or -1 for the end and -2 for the beginning. None: there is no such record.
        Raises ClientError."""
        left = dict(wanted)
        found: dict[TopicPartition, OffsetAndTimestamp | None] = {}

        async def attempt() -> None:
            answers = await self.find_once(left)
            found.update(answers.found)
            for partition in answers.found:
                del left[partition]
            for error in answers.failed.values():
                raise error

        await self._cluster.retrying("looking up offsets", attempt, deadline=deadline)
        return {partition: found[partition] for partition in wanted}

    async def find_once(self, wanted: Mapping[TopicPartition, int]) -> Answers:
        """One attempt, of all leaders at the same time."""
        found: dict[TopicPartition, OffsetAndTimestamp | None] = {}

        async def ask(node_id: int, asked: Mapping[TopicPartition, _Asked]) -> _Failures:
            request = ListOffsetsRequest(
                replica_id=_CONSUMER,
                isolation_level=self._isolation,
                topics=[
                    ListOffsetsTopic(
                        name=topic,
                        partitions=[
                            ListOffsetsPartition(
                                partition_index=index, current_leader_epoch=epoch, timestamp=time
                            )
                            for index, (time, epoch) in partitions
                        ],
                    )
                    for topic, partitions in _by_topic(asked)
                ],
                timeout_ms=self._cluster.settings.request_timeout_ms,
            )
            response: ListOffsetsResponse = await self._cluster.send(node_id, request)
            failed: _Failures = {}
            for topic in response.topics:
                for each in topic.partitions:
                    name = TopicPartition(topic.name, each.partition_index)
                    if each.error_code:
                        failed[name] = error_for(each.error_code, f"the offsets of {name}")
                    elif each.offset == _NOT_FOUND:
                        found[name] = None
                    else:
                        found[name] = OffsetAndTimestamp(
                            each.offset, each.timestamp, each.leader_epoch
                        )
            return failed

        failed = await self._ask_leaders(wanted, ask)
        return Answers(found, failed)

    async def find_epoch_ends(
        self, epochs: Mapping[TopicPartition, int]
    ) -> tuple[dict[TopicPartition, ReadPosition], _Failures]:
        """Where the given leader epoch, or the last one before it, ends in the leader's log."""
        found: dict[TopicPartition, ReadPosition] = {}

        async def ask(node_id: int, asked: Mapping[TopicPartition, _Asked]) -> _Failures:
            request = OffsetForLeaderEpochRequest(
                replica_id=_CONSUMER,
                topics=[
                    OffsetForLeaderTopic(
                        topic=topic,
                        partitions=[
                            OffsetForLeaderPartition(
                                partition=index, current_leader_epoch=current, leader_epoch=epoch
                            )
                            for index, (epoch, current) in partitions
                        ],
                    )
                    for topic, partitions in _by_topic(asked)
                ],
            )
            response: OffsetForLeaderEpochResponse = await self._cluster.send(node_id, request)
            failed: _Failures = {}
            for topic in response.topics:
                for each in topic.partitions:
                    name = TopicPartition(topic.topic, each.partition)
                    if each.error_code:
                        failed[name] = error_for(each.error_code, f"the leader epochs of {name}")
                    else:
                        found[name] = ReadPosition(each.end_offset, each.leader_epoch)
            return failed

        return found, await self._ask_leaders(epochs, ask)

    async def _ask_leaders(
        self,
        wanted: Mapping[TopicPartition, int],
        ask: Callable[[int, Mapping[TopicPartition, _Asked]], Awaitable[_Failures]],
    ) -> _Failures:
        failed: _Failures = {}
        by_node: dict[int, dict[TopicPartition, _Asked]] = defaultdict(dict)
        unknown = {name.topic for name in wanted if self._cluster.leader(name) is None}
        if unknown:
            try:
                await self._cluster.refresh(unknown)
            except (ChannelError, KafkaError) as error:
                failed |= {name: error for name in wanted if name.topic in unknown}
        for name, value in wanted.items():
            leader = self._cluster.leader(name)
            if leader is not None:
                failed.pop(name, None)
                by_node[leader.node_id][name] = (value, leader.epoch)
            elif name not in failed:
                failed[name] = self._no_leader(name)

        async def one(node_id: int, asked: dict[TopicPartition, _Asked]) -> _Failures:
            try:
                return await ask(node_id, asked)
            except (ChannelError, KafkaError) as error:
                return dict.fromkeys(asked, error)

        if len(by_node) == 1:
            return failed | await one(*by_node.popitem())
        for each in await asyncio.gather(*(one(*node) for node in by_node.items())):
            failed |= each
        return failed

    def _no_leader(self, name: TopicPartition) -> KafkaError:
        metadata = self._cluster.metadata
        code = metadata.errors.get(name.topic)
        if code is None and metadata.partition(name) is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return error_for(code or ErrorCode.LEADER_NOT_AVAILABLE, f"{name} has no leader")


_Failures = dict[TopicPartition, ChannelError | KafkaError]


def _by_topic(
    asked: Mapping[TopicPartition, _T],
) -> Iterable[tuple[str, list[tuple[int, _T]]]]:
    topics: dict[str, list[tuple[int, _T]]] = defaultdict(list)
    for name, value in asked.items():
        topics[name.topic].append((name.partition, value))
    return topics.items()
