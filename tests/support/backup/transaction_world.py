"""Producers with transactions over the partitions of a cluster, step by step, and a backup of it.

Each step is what happens at one moment in one partition. The model of the coordinator is Kafka's:
a decision is in its log before the first marker, and the completion after the last one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ottla.cli.backup.decision_log import DecisionLog
from ottla.cli.backup.settling import (
    DecisionsAtCut,
    Erasing,
    TransactionScan,
    erasures,
)
from ottla.coordinator.transactions.states import TransactionState
from ottla.model import LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition
from ottla.wire.records.header import MAGIC, BatchHeader, encode_attributes
from ottla.wire.stored.transactions import PartitionsSchema, TransactionLogValue

DATA: Final = [TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("paid", 0)]
OFFSETS: Final = TopicPartition("__consumer_offsets", 0)
PARTITIONS: Final = [*DATA, OFFSETS]
IDS: Final = ["a", "b", "c"]


class Write(NamedTuple):
    """A batch in a partition. `transaction` is None for a marker."""

    header: BatchHeader
    transaction: int | None
    is_commit: bool = False


class Decided(NamedTuple):
    name: str
    record: int
    is_commit: bool


@dataclass
class ModelProducer:
    """A transactional id. With `is_v2` each transaction has its own epoch."""

    name: str
    is_v2: bool
    producer_id: int
    epoch: int = 0
    previous_id: int = -1
    next_id: int = -1
    state: TransactionState = TransactionState.EMPTY
    partitions: set[TopicPartition] = field(default_factory=set)
    unmarked: list[TopicPartition] = field(default_factory=list)
    transaction: int = -1
    is_fenced: bool = False


class World:
    def __init__(self, are_v2: list[bool]) -> None:
        self.logs: dict[TopicPartition, list[Write]] = {each: [] for each in PARTITIONS}
        self.records: dict[str, list[TransactionLogValue]] = {name: [] for name in IDS}
        self.decided: dict[int, Decided] = {}
        self._transactions = 0
        self._producer_ids = len(IDS)
        self.producers = [
            ModelProducer(name, is_v2, number)
            for number, (name, is_v2) in enumerate(zip(IDS, are_v2, strict=True))
        ]
        for producer in self.producers:
            self._append(producer)

    def step(self, number: int, choice: int) -> None:
        """The producer's next step, where it has a choice by `choice`."""
        producer = self.producers[number]
        if producer.state.is_prepared:
            self._continue(producer, choice)
        elif producer.is_fenced or (
            producer.state is not TransactionState.ONGOING and choice % 8 == 7
        ):
            self._initialize(producer)
        elif producer.state is not TransactionState.ONGOING:
            self._transactions += 1
            producer.transaction = self._transactions
            self._add(producer, PARTITIONS[choice % len(PARTITIONS)])
        elif choice % 8 < 4:
            self._write(producer, PARTITIONS[choice % len(PARTITIONS)])
        else:
            self._decide(producer, choice)

    def _write(self, producer: ModelProducer, partition: TopicPartition) -> None:
        if partition not in producer.partitions:
            self._add(producer, partition)
        self._log(partition, producer, producer.transaction)

    def _add(self, producer: ModelProducer, partition: TopicPartition) -> None:
        producer.state = TransactionState.ONGOING
        producer.partitions.add(partition)
        self._append(producer)
        self._log(partition, producer, producer.transaction)

    def _decide(self, producer: ModelProducer, choice: int) -> None:
        is_fenced = choice % 16 == 15
        is_commit = not is_fenced and choice % 4 != 2
        producer.state = (
            TransactionState.PREPARE_COMMIT if is_commit else TransactionState.PREPARE_ABORT
        )
        if producer.is_v2 or is_fenced:
            producer.epoch += 1
        if producer.is_v2 and choice % 16 == 4:
            producer.next_id, self._producer_ids = self._producer_ids, self._producer_ids + 1
        producer.is_fenced = is_fenced
        producer.unmarked = sorted(producer.partitions)
        self._append(producer)
        count = len(self.records[producer.name])
        self.decided[producer.transaction] = Decided(producer.name, count - 1, is_commit)

    def _continue(self, producer: ModelProducer, choice: int) -> None:
        is_commit = producer.state is TransactionState.PREPARE_COMMIT
        if producer.unmarked:
            partition = producer.unmarked.pop(choice % len(producer.unmarked))
            self._log(partition, producer, None, is_commit=is_commit)
            if choice % 8 == 3:
                # A coordinator that failed over writes its markers again.
                self._log(partition, producer, None, is_commit=is_commit)
            return
        producer.state = (
            TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT
        )
        producer.partitions = set()
        if producer.next_id >= 0:
            producer.previous_id, producer.producer_id = producer.producer_id, producer.next_id
            producer.next_id, producer.epoch = -1, 0
        self._append(producer)

    def _initialize(self, producer: ModelProducer) -> None:
        producer.is_fenced = False
        producer.epoch += 1
        producer.state = TransactionState.EMPTY
        self._append(producer)

    def _append(self, producer: ModelProducer) -> None:
        self.records[producer.name].append(
            TransactionLogValue(
                producer_id=producer.producer_id,
                previous_producer_id=producer.previous_id,
                next_producer_id=producer.next_id,
                producer_epoch=producer.epoch,
                transaction_status=producer.state,
                transaction_partitions=[
                    PartitionsSchema(topic=topic, partition_ids=[index])
                    for topic, index in sorted(producer.partitions)
                ],
                client_transaction_version=2 if producer.is_v2 else 0,
            )
        )

    def _log(
        self,
        partition: TopicPartition,
        producer: ModelProducer,
        transaction: int | None,
        *,
        is_commit: bool = False,
    ) -> None:
        log = self.logs[partition]
        header = BatchHeader(
            Offset(len(log)),
            49,
            LeaderEpoch(0),
            MAGIC,
            0,
            encode_attributes(is_transactional=True, is_control=transaction is None),
            0,
            TimestampMs(0),
            TimestampMs(0),
            ProducerId(producer.producer_id),
            ProducerEpoch(producer.epoch),
            0,
            1,
        )
        log.append(Write(header, transaction, is_commit))


class ModelBackup:
    """A backup of the world, of which each `next` is one read of one partition."""

    def __init__(self, world: World, *, rounds_max: int) -> None:
        self._world = world
        self._rounds_max = rounds_max
        self.copied: dict[TopicPartition, int] = dict.fromkeys(PARTITIONS, 0)
        self.record_counts: dict[str, int] = dict.fromkeys(IDS, 0)
        self._scans = {each: TransactionScan() for each in PARTITIONS}
        self._decisions = DecisionLog()
        self.cut: DecisionsAtCut | None = None

    def steps(self) -> Iterator[None]:
        for partition in PARTITIONS:
            yield from self._copy(partition)
        for scan in self._scans.values():
            scan.keeps_ended = True
        before = yield from self._ends()
        yield from self._copy_decisions()
        for _ in range(self._rounds_max):
            ends = yield from self._ends()
            self._decisions.begin_round(before)
            yield from self._copy_decisions()
            self._decisions.end_round(ends)
            if self._decisions.has_all_anchors:
                break
            before = ends
        self.cut = self._decisions.decisions(ends)
        for partition in [OFFSETS, *DATA]:
            yield from self._copy(partition)

    def erasing(self) -> dict[TopicPartition, Erasing]:
        assert self.cut is not None
        return {
            name: Erasing(erasures(name, scan.ended, scan.opened.values(), self.cut))
            for name, scan in self._scans.items()
        }

    def _ends(self) -> Generator[None, None, dict[TopicPartition, int]]:
        found: dict[TopicPartition, int] = {}
        for partition in PARTITIONS:
            found[partition] = len(self._world.logs[partition])
            yield
        return found

    def _copy_decisions(self) -> Iterator[None]:
        for name in IDS:
            records = self._world.records[name]
            for value in records[self.record_counts[name] :]:
                self._decisions.take(name, value)
            self.record_counts[name] = len(records)
            yield

    def _copy(self, partition: TopicPartition) -> Iterator[None]:
        log = self._world.logs[partition]
        for write in log[self.copied[partition] :]:
            self._scans[partition].take(write.header, is_commit=write.is_commit)
        self.copied[partition] = len(log)
        yield
