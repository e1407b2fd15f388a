"""Copies a topic to another one in transactions: consume, transform, produce, exactly once.

Each transaction contains the copies of some records and the group's offset after these records.
After a fatal error the copier initializes its transactional id again and resumes at the group's
offset. Each value contains the name of its transaction and the record that it is a copy of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import LogPosition
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.clients.group_coordinator import CoordinatorClient
from ottla.simulation.clients.group_member import MemberProgress
from ottla.simulation.clients.refusals import is_refusal
from ottla.simulation.clients.transactional_producer import (
    RefusedError,
    SimulatedTransactionalProducer,
)
from ottla.simulation.history.history import Event, GroupResumed
from ottla.simulation.history.transaction_events import (
    OffsetTaken,
    TransactionBegun,
    TransactionEnded,
    TransactionEnding,
    TransactionRefused,
)
from ottla.simulation.world.host import Host
from ottla.wire.records.record import Record

_RECORDS_MAX: Final = 40
_ABORT_PROBABILITY: Final = 0.2
_DAWDLE_PROBABILITY: Final = 0.04
_PIECE_PROBABILITY: Final = 0.2
_LATE_PROBABILITY: Final = 0.15
_PATIENCE_MS: Final = (1, 10, 50)
_RESUME_PROBABILITY: Final = 0.1
_REST_MS_MAX: Final = 400
TRANSACTION_TIMEOUT_MS: Final = 5_000


class CopyTask(NamedTuple):
    """What to copy, where to, and with which transactional id and group."""

    transactional_id: str
    group: str
    inputs: Sequence[TopicPartition]
    outputs: Sequence[TopicPartition]


def copy_of(name: str, source: TopicPartition, offset: int) -> bytes:
    return f"{name}|{source.partition}:{offset}".encode()


class Copier:
    """One of the processes that share a transactional id. `run` ends when another one has fenced
    it.

    `is_wanted` says whether this process should continue after it was fenced. `is_over` says
    whether it should only finish the remaining input.
    """

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        task: CopyTask,
        progress: MemberProgress,
        *,
        is_wanted: Callable[[], bool],
        is_over: Callable[[], bool],
    ) -> None:
        self.name = host.name
        self._host = host
        self._bootstrap = list(bootstrap)
        self._record = record
        self._task = task
        self._progress = progress
        self._is_wanted = is_wanted
        self._is_over = is_over
        self._dice = host.dice.fork("copier")
        self._group = CoordinatorClient(host, bootstrap, task.group, name=f"{self.name} group")
        self._producer = SimulatedTransactionalProducer(
            host,
            bootstrap,
            record,
            transactional_id=task.transactional_id,
            group=task.group,
            timeout_ms=TRANSACTION_TIMEOUT_MS,
            is_v2=self._dice.chance(0.5),
            name=self.name,
        )
        self._readers: dict[TopicPartition, _Reader] = {}
        self._readers_made = 0
        self._transactions = 0

    async def run(self) -> None:
        while True:
            name = ""
            try:
                await self._producer.initialize()
                for partition in self._task.inputs:
                    await self._resume(partition)
                while True:
                    for partition in self._task.inputs:
                        records = await self._readers[partition].take()
                        if records:
                            self._transactions += 1
                            name = f"{self.name}/{self._transactions}"
                            await self._copy(name, partition, records)
                            await self._rest()
            except RefusedError as refused:
                self._record(TransactionRefused(self.name, name, refused.error.name))
                if not self._is_wanted():
                    return
                if is_refusal(refused.error):
                    await self._group.back_off()

    async def _dawdle(self) -> None:
        """Sometimes waits so long that the coordinator aborts the transaction."""
        if not self._is_over() and self._dice.chance(_DAWDLE_PROBABILITY):
            longest_ms = 2 * TRANSACTION_TIMEOUT_MS
            await self._host.clock.sleep(self._dice.between(low=0, high=longest_ms) / 1_000)

    def _resumes_after_commit(self) -> bool:
        """Whether to resume at the group's committed offset directly after a commit, as a member
        does after a rebalance. The markers of that commit may not be written yet.
        """
        return not self._is_over() and self._dice.chance(_RESUME_PROBABILITY)

    async def _rest(self) -> None:
        """Waits so that there is new input to copy."""
        if not self._is_over():
            await self._host.clock.sleep(self._dice.between(low=0, high=_REST_MS_MAX) / 1_000)

    async def _copy(self, name: str, source: TopicPartition, records: list[Record]) -> None:
        producer = self._producer
        self._record(
            TransactionBegun(
                self.name,
                name,
                producer.transactional_id,
                producer.producer_id,
                producer.producer_epoch,
            )
        )
        if not self._is_over() and self._dice.chance(_LATE_PROBABILITY):
            await self._give_up(name, source, records)
            return
        commits = self._is_over() or not self._dice.chance(_ABORT_PROBABILITY)
        await self._write(name, source, records)
        end = records[-1].offset + 1
        position = LogPosition(end, self._readers[source].leader_epoch)
        await producer.commit_offsets(self._group, {source: position})
        self._record(OffsetTaken(self.name, name, source, end))
        await self._dawdle()
        await self._end(name, commits=commits)
        if commits:
            known = self._progress.committed
            known[source] = max(end, known.get(source, 0))
        if not commits or self._resumes_after_commit():
            await self._resume(source)

    async def _give_up(self, name: str, source: TopicPartition, records: list[Record]) -> None:
        """Aborts a transaction while its last batch is in flight; the batch may arrive later."""
        if self._dice.chance(0.5):
            await self._write(name, source, records[:-1])
        target = self._dice.choice(self._task.outputs)
        await self._producer.write_late(target, [copy_of(name, source, records[-1].offset)])
        await self._host.clock.sleep(self._dice.choice(_PATIENCE_MS) / 1_000)
        await self._end(name, commits=False)
        if not self._producer.is_v2:
            # The batch may or may not use its sequence number: only a new epoch is safe.
            raise RefusedError(ErrorCode.REQUEST_TIMED_OUT)
        await self._resume(source)

    async def _end(self, name: str, *, commits: bool) -> None:
        comes_twice = not self._is_over() and self._dice.chance(_LATE_PROBABILITY)
        self._record(TransactionEnding(self.name, name, commits))
        await self._producer.end(commits=commits, comes_twice=comes_twice)
        self._record(TransactionEnded(self.name, name, commits))

    async def _write(self, name: str, source: TopicPartition, records: list[Record]) -> None:
        outputs = self._task.outputs
        for piece in self._pieces(records):
            for index, target in enumerate(outputs):
                values = [
                    copy_of(name, source, each.offset)
                    for each in piece
                    if each.offset % len(outputs) == index
                ]
                if values:
                    await self._producer.write(target, values)
            await self._dawdle()

    def _pieces(self, records: list[Record]) -> list[list[Record]]:
        """All records at once, or split into two batches per output partition."""
        if len(records) < 2 or not self._dice.chance(_PIECE_PROBABILITY):
            return [records]
        at = self._dice.between(low=1, high=len(records) - 1)
        return [records[:at], records[at:]]

    async def _resume(self, partition: TopicPartition) -> None:
        """Resumes at the group's committed offset."""
        floor = self._progress.committed.get(partition, 0)
        while (position := await self._group.committed(partition)) is None:
            await self._group.back_off()
        offset = position.offset
        self._record(GroupResumed(self.name, self._task.group, partition, offset, floor))
        self._progress.is_resumed(partition, offset)
        self._readers_made += 1
        name = f"{self.name}.{self._readers_made}"
        reader = self._readers.get(partition)
        if reader is None:
            reader = self._readers[partition] = _Reader(
                SimulatedConsumer(self._host, self._bootstrap, self._record, partition, name=name)
            )
        reader.resume(position, name)


class _Reader:
    """Returns records in small portions."""

    def __init__(self, consumer: SimulatedConsumer) -> None:
        self._consumer = consumer
        self._read: deque[Record] = deque()

    @property
    def leader_epoch(self) -> int:
        return self._consumer.leader_epoch

    def resume(self, position: LogPosition, name: str) -> None:
        """Reads again from a position, as another reader in the history."""
        self._consumer.name = name
        self._consumer.go_on(position)
        self._read.clear()

    async def take(self) -> list[Record]:
        if not self._read:
            self._read.extend(await self._consumer.poll())
        return [self._read.popleft() for _ in range(min(_RECORDS_MAX, len(self._read)))]
