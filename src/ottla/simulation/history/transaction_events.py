"""What happens to transactions in a world, as those who take part in them tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ottla.model import TopicPartition
from ottla.simulation.history.history import Event


@dataclass(frozen=True, slots=True)
class ProducerInitialized(Event):
    """A producer took a transactional id over."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class TransactionBegun(Event):
    """A producer is about to write the first record of a transaction."""

    name: str
    transactional_id: str
    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class OffsetTaken(Event):
    """A producer was told that how far its group has come is a part of its transaction."""

    name: str
    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class TransactionEnding(Event):
    """A producer asks for the end of a transaction, after everything in it was acknowledged."""

    name: str
    commits: bool


@dataclass(frozen=True, slots=True)
class TransactionEnded(Event):
    """A producer was told that its transaction has ended as it wished."""

    name: str
    commits: bool


@dataclass(frozen=True, slots=True)
class TransactionRefused(Event):
    """A producer was refused something, and gives the transaction up."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class TransactionalRead(Event):
    """A reader read a record of a topic that is written to in transactions."""

    partition: TopicPartition
    offset: int
    value: bytes
    is_committed: bool


@dataclass(frozen=True, slots=True)
class StableOffsetSeen(Event):
    """A reader was told how far a partition is decided, by the leader of an epoch."""

    partition: TopicPartition
    leader: int
    leader_epoch: int
    last_stable_offset: int
    high_watermark: int


class LoggedRow(NamedTuple):
    """A record, or the marker that ends a transaction: COMMIT or ABORT."""

    offset: int
    producer_id: int
    producer_epoch: int
    marker: str
    value: bytes


@dataclass(frozen=True, slots=True)
class TransactionalLogHas(Event):
    """What a replica held at the end of a partition that is written to in transactions."""

    partition: TopicPartition
    rows: tuple[LoggedRow, ...]

    def __str__(self) -> str:
        return f"{self.who:<12} holds {len(self.rows)} rows of transactions of {self.partition}"


class Decision(NamedTuple):
    """How a producer's transaction was to end: COMMIT or ABORT."""

    producer_id: int
    producer_epoch: int
    marker: str


@dataclass(frozen=True, slots=True)
class DecisionsLogged(Event):
    """Every decision that is in the logs of the coordinators at the end, none of them compacted."""

    decisions: tuple[Decision, ...]

    def __str__(self) -> str:
        return f"{self.who:<12} has decided {len(self.decisions)} times"


@dataclass(frozen=True, slots=True)
class TransactionHangs(Event):
    """Long after everything was healed, a partition has a transaction that nobody has ended."""

    partition: TopicPartition
    last_stable_offset: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class GroupOffsetAtEnd(Event):
    """Where a group was at the end, as its coordinator has it."""

    group: str
    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class GroupLogHas(Event):
    """Every offset that is in a group's log at the end and was committed in a transaction, where
    the log was not compacted."""

    group: str
    offsets: tuple[tuple[TopicPartition, int], ...]

    def __str__(self) -> str:
        return f"{self.who:<12} has {len(self.offsets)} offsets of {self.group} in transactions"


@dataclass(frozen=True, slots=True)
class CoordinatorDiffers(Event):
    """A coordinator's state was not what its log says."""

    partition: TopicPartition
    what: str
