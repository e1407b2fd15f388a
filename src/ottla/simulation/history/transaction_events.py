"""The events of transactions, as their producers and readers record them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ottla.model import TopicPartition
from ottla.simulation.history.history import Event


@dataclass(frozen=True, slots=True)
class ProducerInitialized(Event):
    """A producer initialized a transactional id."""

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
    """A producer's TxnOffsetCommit was acknowledged: the offset is part of its transaction."""

    name: str
    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class TransactionEnding(Event):
    """A producer requests the end of a transaction, after all its records were acknowledged."""

    name: str
    commits: bool


@dataclass(frozen=True, slots=True)
class TransactionEnded(Event):
    """A producer got the response that its transaction has ended."""

    name: str
    commits: bool


@dataclass(frozen=True, slots=True)
class TransactionRefused(Event):
    """A producer got a fatal error and gives up the transaction."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class TransactionalRead(Event):
    """A reader read a record of a transactional topic."""

    partition: TopicPartition
    offset: int
    value: bytes
    is_committed: bool


@dataclass(frozen=True, slots=True)
class StableOffsetSeen(Event):
    """A reader received a last stable offset from the leader of an epoch."""

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
    """The content of a replica of a transactional partition at the end."""

    partition: TopicPartition
    rows: tuple[LoggedRow, ...]

    def __str__(self) -> str:
        return f"{self.who:<12} holds {len(self.rows)} rows of transactions of {self.partition}"


class Decision(NamedTuple):
    """The outcome that a coordinator has decided for a producer's transaction: COMMIT or ABORT."""

    producer_id: int
    producer_epoch: int
    marker: str


@dataclass(frozen=True, slots=True)
class DecisionsLogged(Event):
    """All decisions in the coordinators' logs at the end, if none of these logs was compacted."""

    decisions: tuple[Decision, ...]

    def __str__(self) -> str:
        return f"{self.who:<12} has decided {len(self.decisions)} times"


@dataclass(frozen=True, slots=True)
class TransactionHangs(Event):
    """Long after healing, a partition still has an open transaction."""

    partition: TopicPartition
    last_stable_offset: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class GroupOffsetAtEnd(Event):
    """A group's committed offset at the end, as its coordinator has it."""

    group: str
    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class GroupLogHas(Event):
    """All offsets that were committed in transactions, read from a group's log at the end if the
    log was not compacted.
    """

    group: str
    offsets: tuple[tuple[TopicPartition, int], ...]

    def __str__(self) -> str:
        return f"{self.who:<12} has {len(self.offsets)} offsets of {self.group} in transactions"


@dataclass(frozen=True, slots=True)
class CoordinatorDiffers(Event):
    """A coordinator's state differed from its log."""

    partition: TopicPartition
    what: str
