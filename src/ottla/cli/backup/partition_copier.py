"""Copies partitions from their leaders, all leaders at the same time.

A partition without a leader is tried again until it has one, until its topic is deleted, or until a
minute has passed without progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

from ottla.channels import ChannelError
from ottla.cli.backup.leaders import (
    EARLIEST,
    LATEST,
    RETRIABLE,
    epochs_request,
    fetch_request,
    find_leaders,
    offsets_request,
)
from ottla.cli.backup.partition_copy import PartitionCopy
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.requests import node_error
from ottla.client.cluster import ClientCluster
from ottla.model import ErrorCode, TopicPartition, Uuid
from ottla.runtime.clock import Clock
from ottla.wire.messages.list_offsets import ListOffsetsResponse
from ottla.wire.schema import Message

T = TypeVar("T")

_RETRY_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 60.0


class PartitionCopier:
    """Owned by one run. `start_over` replaces a copy whose partition no longer has the records
    that follow it; `is_deleted` reads the metadata."""

    def __init__(
        self,
        cluster: ClientCluster,
        clock: Clock,
        copies: dict[TopicPartition, PartitionCopy],
        *,
        start_over: Callable[[TopicPartition, Uuid], PartitionCopy],
        is_deleted: Callable[[TopicPartition, Uuid], Any],
        bytes_per_second: float | None,
        on_progress: Callable[[int], None],
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._copies = copies
        self._start_over = start_over
        self._is_deleted = is_deleted
        self._bytes_per_second = bytes_per_second
        self._on_progress = on_progress
        self._next_fetch_at = 0.0

    async def read_ends(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The high watermark of each partition; deleted ones are left out."""
        return await self._offsets(partitions, LATEST)

    async def copy_to(self, ends: Mapping[TopicPartition, int]) -> None:
        """Returns when every partition is copied up to its end or is deleted."""
        await self._begin(ends)
        waiting = {each for each in ends if not self._is_done(each, ends)}
        deadline = self._clock.monotonic() + _PATIENCE_SECONDS
        while waiting:
            before = self._positions(waiting)
            leaders = await find_leaders(self._cluster)
            await asyncio.gather(
                *(
                    self._copy_from(node_id, some, ends)
                    for node_id, some in leaders.by_node(waiting).items()
                )
            )
            waiting = {each for each in waiting if not self._is_done(each, ends)}
            if self._positions(waiting) != before:
                deadline = self._clock.monotonic() + _PATIENCE_SECONDS
            waiting -= await self._wait(waiting, deadline)
            await self._begin(waiting)

    async def _begin(self, partitions: Iterable[TopicPartition]) -> None:
        await self._check_resumed(partitions)
        new = [each for each in partitions if each in self._copies]
        new = [each for each in new if self._copies[each].position is None]
        for each, offset in (await self._offsets(new, EARLIEST)).items():
            self._copies[each].begin(offset)

    async def _check_resumed(self, partitions: Iterable[TopicPartition]) -> None:
        """Starts over where an unclean election has replaced records that an earlier run copied."""
        known = {each for each in partitions if each in self._copies}
        resumed = [each for each in known if self._copies[each].is_resumed]
        if not resumed:
            return
        ends = await self._offsets(resumed, LATEST)
        epochs = await self._ask(
            [each for each in resumed if self._copies[each].leader_epoch >= 0],
            lambda some: epochs_request({each: self._copies[each] for each in some}),
            lambda each: (each.leader_epoch, each.end_offset),
        )
        for each in ends:
            copy = self._copies[each]
            copy.is_resumed = False
            assert copy.position is not None
            epoch, end = epochs.get(each, (copy.leader_epoch, copy.position))
            if copy.position > ends[each] or epoch != copy.leader_epoch or copy.position > end:
                self._copies[each] = self._start_over(each, copy.topic_id)

    def _is_done(self, partition: TopicPartition, ends: Mapping[TopicPartition, int]) -> bool:
        copy = self._copies.get(partition)
        return copy is None or (copy.position is not None and copy.position >= ends[partition])

    def _positions(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int | None]:
        return {each: self._copies[each].position for each in partitions if each in self._copies}

    async def _copy_from(
        self,
        node_id: int,
        partitions: Collection[TopicPartition],
        ends: Mapping[TopicPartition, int],
    ) -> None:
        """Returns when they are copied or failed. Partitions that had records are fetched last in
        the next request, so that all of them advance."""
        copies = {each: self._copies[each] for each in partitions}
        copies = {each: copy for each, copy in copies.items() if copy.position is not None}
        while copies:
            await self._keep_bandwidth()
            try:
                response = await self._cluster.send(node_id, fetch_request(copies))
            except ChannelError:
                return
            if response.error_code:
                raise refused("fetch records", node_error(response.error_code))
            names = {copy.topic_id: name.topic for name, copy in copies.items()}
            size = 0
            for topic in response.responses:
                for data in topic.partitions:
                    name = TopicPartition(
                        topic.topic or names[topic.topic_id], data.partition_index
                    )
                    size += self._take(name, copies, data, ends[name])
            self._charge(size)
            self._on_progress(size)

    def _take(
        self,
        name: TopicPartition,
        copies: dict[TopicPartition, PartitionCopy],
        data: Any,
        end: int,
    ) -> int:
        """Returns the bytes that were written. Removes what cannot or need not be continued."""
        copy = copies[name]
        if data.error_code:
            del copies[name]
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self._copies[name] = self._start_over(name, copy.topic_id)
            elif data.error_code not in RETRIABLE:
                raise refused(f"fetch from {name}", node_error(data.error_code))
            return 0
        size = copy.append(memoryview(data.records or b""), end)
        copy.log_start_offset = max(copy.log_start_offset, data.log_start_offset)
        assert copy.position is not None
        if size:
            del copies[name]
            if copy.position < end:
                copies[name] = copy
        return size

    async def _offsets(
        self, partitions: Iterable[TopicPartition], timestamp: int
    ) -> dict[TopicPartition, int]:
        return await self._ask(
            partitions, lambda some: offsets_request(some, timestamp), lambda each: each.offset
        )

    async def _ask(
        self,
        partitions: Iterable[TopicPartition],
        make_request: Callable[[Collection[TopicPartition]], Message],
        read: Callable[[Any], T],
    ) -> dict[TopicPartition, T]:
        """What the leaders respond for each partition; deleted ones are left out."""
        found: dict[TopicPartition, T] = {}
        waiting = {each for each in partitions if each in self._copies}
        deadline = self._clock.monotonic() + _PATIENCE_SECONDS
        while waiting:
            leaders = await find_leaders(self._cluster)
            for some in await asyncio.gather(
                *(
                    self._ask_leader(node_id, make_request(of_leader))
                    for node_id, of_leader in leaders.by_node(waiting).items()
                )
            ):
                found |= {name: read(each) for name, each in some.items()}
            waiting -= found.keys()
            waiting -= await self._wait(waiting, deadline)
        return found

    async def _ask_leader(self, node_id: int, request: Message) -> dict[TopicPartition, Any]:
        """The parts of the response by partition, without those that have to be asked again."""
        try:
            response = await self._cluster.send(node_id, request)
        except ChannelError:
            return {}
        found = {}
        for topic in response.topics:
            for each in topic.partitions:
                is_list = isinstance(response, ListOffsetsResponse)
                name = TopicPartition(
                    topic.name if is_list else topic.topic,
                    each.partition_index if is_list else each.partition,
                )
                if each.error_code and each.error_code not in RETRIABLE:
                    raise refused(f"read the offsets of {name}", node_error(each.error_code))
                if not each.error_code:
                    found[name] = each
        return found

    async def _wait(self, waiting: Collection[TopicPartition], deadline: float) -> set[Any]:
        """Returns the partitions that are deleted meanwhile, and forgets their copies."""
        if not waiting:
            return set()
        deleted = {
            each
            for each in waiting
            if each in self._copies and await self._is_deleted(each, self._copies[each].topic_id)
        }
        for each in deleted:
            del self._copies[each]
        if len(deleted) < len(waiting):
            if self._clock.monotonic() > deadline:
                raise _stuck(sorted(set(waiting) - deleted))
            await self._clock.sleep(_RETRY_SECONDS)
        return deleted

    async def _keep_bandwidth(self) -> None:
        delay = self._next_fetch_at - self._clock.monotonic()
        if delay > 0:
            await self._clock.sleep(delay)

    def _charge(self, size: int) -> None:
        if self._bytes_per_second is not None:
            start = max(self._next_fetch_at, self._clock.monotonic())
            self._next_fetch_at = start + size / self._bytes_per_second


def _stuck(partitions: list[TopicPartition]) -> CommandError:
    names = ", ".join(map(str, partitions[:3]))
    more = f" and {len(partitions) - 3} more" if len(partitions) > 3 else ""
    return CommandError(
        f"Cannot copy {names}{more}: no leader answers.",
        "`ottla topics describe` shows the leaders. With an authorizer, the user needs Read on "
        "every topic. Run the command again to continue.",
        exit_code=ExitCode.UNREACHABLE,
    )
