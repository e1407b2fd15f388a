"""Gives assigned partitions their positions: committed offsets, resets, and validation (KIP-320).

Runs in the background whenever a partition needs it, for all partitions that do at the same time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster
from ottla.client.cluster.retries import STALE_METADATA, final_error
from ottla.client.consuming.assigned_partition import AssignedPartition, Phase
from ottla.client.consuming.assignment import PartitionAssignment
from ottla.client.consuming.errors import LogTruncationError, NoOffsetForPartitionError
from ottla.client.consuming.offset_lookup import OffsetLookup
from ottla.client.consuming.offset_reset import LATEST_TIMESTAMP, OffsetReset, ResetKind
from ottla.client.consuming.record_queue import ReadPosition
from ottla.client.errors import ClientError
from ottla.client.records import OffsetAndMetadata
from ottla.model import KafkaError, TopicPartition

_log = logging.getLogger(__name__)

_UNKNOWN_EPOCH: Final = -1
_UNKNOWN_OFFSET: Final = -1
Committed = Callable[
    [Sequence[TopicPartition]], Awaitable[Mapping[TopicPartition, OffsetAndMetadata | None]]
]


class Positioning:
    """Belongs to a consumer. `committed` returns the group's offsets, or is None without a group;
    `on_position` is called when partitions can be fetched, `fail` with what poll has to raise."""

    def __init__(
        self,
        cluster: ClientCluster,
        assignment: PartitionAssignment,
        lookup: OffsetLookup,
        reset: OffsetReset,
        *,
        committed: Committed | None,
        on_position: Callable[[], None],
        fail: Callable[[ClientError], None],
    ) -> None:
        self._cluster = cluster
        self._assignment = assignment
        self._lookup = lookup
        self._reset = reset
        self._committed = committed
        self._on_position = on_position
        self._fail = fail
        self._is_running = False
        self._again = False
        self._failures = 0

    def wake(self) -> None:
        """Called when any partition may need a position."""
        self._again = True
        if not self._is_running and not self._cluster.tasks.is_closed:
            self._is_running = True
            self._cluster.tasks.start("positions", self._run())

    def start_reset(self, partition: AssignedPartition) -> bool:
        """Resets a position that does not exist. Returns False if the application has to."""
        if self._reset.kind is ResetKind.NONE:
            return False
        partition.start_reset(self._reset)
        self.wake()
        return True

    async def _run(self) -> None:
        try:
            while self._again:
                self._again = False
                now = self._cluster.clock.monotonic()
                waiting = [each for each in self._assignment if each.phase is not Phase.FETCHING]
                due = [each for each in waiting if each.retry_at <= now and each.may_initialize]
                if due:
                    await self._step(due)
                    self._on_position()
                elif waiting:
                    pause = min(each.retry_at for each in waiting) - now
                    self._cluster.clock.call_later(max(pause, 0.001), self.wake)
        finally:
            self._is_running = False

    async def _step(self, due: Sequence[AssignedPartition]) -> None:
        # Each of them leads to the next.
        self._again = True
        await asyncio.gather(
            self._initialize([each for each in due if each.phase is Phase.INITIALIZING]),
            self._look_up([each for each in due if each.phase is Phase.RESETTING]),
            self._validate([each for each in due if each.phase is Phase.VALIDATING]),
        )

    async def _initialize(self, partitions: Sequence[AssignedPartition]) -> None:
        if not partitions:
            return
        versions = _versions(partitions)
        committed: Mapping[TopicPartition, OffsetAndMetadata | None] = {}
        if self._committed is not None:
            try:
                committed = await self._committed([each.name for each in partitions])
            except ClientError as error:
                _log.debug("cannot fetch committed offsets: %s", error)
                self._back_off(partitions)
                if not error.retriable:
                    self._fail(error)
                return
        unknown = []
        for partition in self._current(versions):
            position = committed.get(partition.name)
            if position is not None:
                partition.seek(ReadPosition(position.offset, position.leader_epoch))
            elif not self.start_reset(partition):
                unknown.append(partition)
        if unknown:
            self._back_off(unknown)
            self._fail(NoOffsetForPartitionError(tuple(each.name for each in unknown)))

    async def _look_up(self, partitions: Sequence[AssignedPartition]) -> None:
        if not partitions:
            return
        versions = _versions(partitions)
        now_ms = self._cluster.clock.now_ms()
        wanted = {each.name: (each.reset or self._reset).timestamp(now_ms) for each in partitions}
        answers = await self._lookup.find_once(wanted)
        late = [name for name, found in answers.found.items() if found is None]
        found = dict(answers.found)
        failed = dict(answers.failed)
        if late:
            # No record is that young: continue at the end.
            ends = await self._lookup.find_once(dict.fromkeys(late, LATEST_TIMESTAMP))
            found |= ends.found
            failed |= ends.failed
        for partition in self._current(versions):
            position = found.get(partition.name)
            if position is not None:
                partition.seek(ReadPosition(position.offset))
        await self._failed(failed)

    async def _validate(self, partitions: Sequence[AssignedPartition]) -> None:
        versions = _versions(partitions)
        epochs = {
            each.name: each.fetch_position.leader_epoch
            for each in partitions
            if each.needs_validation
        }
        for partition in partitions:
            # The application may have moved it before this step began.
            if partition.name not in epochs and partition.phase is Phase.VALIDATING:
                leader = self._cluster.leader(partition.name)
                partition.validated(_UNKNOWN_EPOCH if leader is None else leader.epoch)
        if not epochs:
            return
        leaders = {name: self._cluster.leader(name) for name in epochs}
        ends, failed = await self._lookup.find_epoch_ends(epochs)
        truncated: dict[TopicPartition, int] = {}
        for partition in self._current(versions):
            end = ends.get(partition.name)
            if end is None:
                continue
            leader = leaders[partition.name]
            position = partition.fetch_position
            if end.offset < 0 or end.leader_epoch < 0:
                # The leader's log begins after that epoch.
                end = ReadPosition(_UNKNOWN_OFFSET)
            if end.offset < position.offset:
                self._note_truncation(partition, end, truncated)
            else:
                partition.validated(_UNKNOWN_EPOCH if leader is None else leader.epoch)
        if truncated:
            self._fail(LogTruncationError(truncated))
        await self._failed(failed)

    def _note_truncation(
        self, partition: AssignedPartition, end: ReadPosition, truncated: dict[TopicPartition, int]
    ) -> None:
        if not partition.truncated(end):
            return
        _log.warning(
            "%s: the log was truncated to offset %d, and records up to %d were read",
            partition.name,
            end.offset,
            partition.queue.position.offset,
        )
        if self._reset.kind is ResetKind.NONE:
            truncated[partition.name] = end.offset
            self._back_off([partition])
        elif end.offset == _UNKNOWN_OFFSET:
            self.start_reset(partition)
        else:
            partition.seek(end)

    async def _failed(self, failed: Mapping[TopicPartition, ChannelError | KafkaError]) -> None:
        if not failed:
            return
        self._back_off([each for name in failed if (each := self._assignment.get(name))])
        stale = False
        for name, error in failed.items():
            final = final_error(error, f"the position of {name}")
            if final is not None:
                self._fail(final)
            elif isinstance(error, ChannelError) or error.code in STALE_METADATA:
                stale = True
        if stale:
            try:
                await self._cluster.refresh({name.topic for name in failed})
            except (ChannelError, KafkaError) as error:
                _log.debug("cannot refresh metadata: %s", error)

    def _back_off(self, partitions: Iterable[AssignedPartition]) -> None:
        retry_at = self._cluster.clock.monotonic() + self._cluster.backoff(1)
        for partition in partitions:
            partition.retry_at = retry_at

    def _current(self, versions: Mapping[AssignedPartition, int]) -> list[AssignedPartition]:
        """Those whose positions were not changed since."""
        return [
            partition
            for partition, version in versions.items()
            if self._assignment.is_current(partition, version)
        ]


def _versions(partitions: Iterable[AssignedPartition]) -> dict[AssignedPartition, int]:
    return {partition: partition.version for partition in partitions}
