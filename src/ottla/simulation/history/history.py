"""What happened in a world, in order: what checkers read, and what a replay has to repeat.

Events are values. One line of text each, so that two histories can be compared byte by byte and a
person can read the end of one that went wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from ottla.model import TopicPartition


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `who` names the node, client or host."""

    who: str

    def __str__(self) -> str:
        said = [f"{field.name}={getattr(self, field.name)}" for field in fields(self)[1:]]
        return f"{self.who:<12} {type(self).__name__:<20} {' '.join(said)}"


@dataclass(frozen=True, slots=True)
class Fault(Event):
    """A fault that the simulation caused."""

    what: str

    def __str__(self) -> str:
        return f"{self.who:<12} ⚡ {self.what}"


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """A log line of a node or client."""

    text: str

    def __str__(self) -> str:
        return f"{self.who:<12} · {self.text}"


@dataclass(frozen=True, slots=True)
class Sent(Event):
    """A producer sent a record for the first time."""

    partition: TopicPartition
    value: bytes


@dataclass(frozen=True, slots=True)
class Acknowledged(Event):
    """A record was acknowledged to a producer, at an offset (-1 if the response had none)."""

    partition: TopicPartition
    value: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class ProducerFailed(Event):
    """A producer met an error that it cannot go on after."""

    partition: TopicPartition
    sequence: int
    error: str


@dataclass(frozen=True, slots=True)
class Read(Event):
    """A consumer received a record."""

    partition: TopicPartition
    offset: int
    value: bytes


@dataclass(frozen=True, slots=True)
class WatermarkSeen(Event):
    """A consumer was told a high watermark, by the leader of an epoch."""

    partition: TopicPartition
    leader: int
    leader_epoch: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class ReaderLost(Event):
    """A consumer was told that its position does not exist."""

    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class GroupOwns(Event):
    """A member of a group was assigned a partition, or keeps it, in an epoch of its own."""

    group: str
    partition: TopicPartition
    epoch: int


@dataclass(frozen=True, slots=True)
class GroupCommitted(Event):
    """A member was told that its commit is taken."""

    group: str
    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class GroupResumed(Event):
    """A member was told how far its group has come, after commits up to `floor` were taken."""

    group: str
    partition: TopicPartition
    offset: int
    floor: int


@dataclass(frozen=True, slots=True)
class QuorumLeaderSeen(Event):
    """A node took somebody for the leader of the metadata quorum in an epoch."""

    leader: int
    epoch: int


@dataclass(frozen=True, slots=True)
class VoteSeen(Event):
    """A node voted for somebody in an epoch of the metadata quorum."""

    candidate: int
    epoch: int


@dataclass(frozen=True, slots=True)
class PartitionLed(Event):
    """A node led a partition in an epoch. A topic that is made anew has another id."""

    partition: TopicPartition
    topic_id: str
    node: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class ImageSeen(Event):
    """A node's committed metadata was this, up to an offset."""

    offset: int
    digest: str


@dataclass(frozen=True, slots=True)
class InSyncReplicaLacks(Event):
    """A replica of the ISR did not hold what was committed."""

    partition: TopicPartition
    what: str


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """An unexpected failure: no fault explains it."""

    what: str


@dataclass(frozen=True, slots=True)
class ReplicaHas(Event):
    """What a replica held at the end: each batch as (base offset, leader epoch, values)."""

    partition: TopicPartition
    records: tuple[tuple[int, int, bytes], ...]

    def __str__(self) -> str:
        return f"{self.who:<12} holds {len(self.records)} records of {self.partition}"


@dataclass(frozen=True, slots=True)
class Healed(Event):
    """All faults are over."""


@dataclass(frozen=True, slots=True)
class LogRecovered(Event):
    """Everybody could work again, so long after the faults were over."""

    seconds: float


E = TypeVar("E", bound=Event)


class History:
    """The events of a world, in order. The world appends to it."""

    def __init__(self) -> None:
        self.events: list[tuple[float, Event]] = []
        # The same once more, for claims that read one kind each.
        self._by_kind: defaultdict[type[Event], list[Any]] = defaultdict(list)

    def add(self, at: float, event: Event) -> None:
        self.events.append((at, event))
        self._by_kind[type(event)].append(event)

    def of(self, kind: type[E]) -> Iterator[E]:
        """The events of exactly this class."""
        return iter(self._by_kind[kind])

    def lines(self) -> Iterator[str]:
        """One line of text for each event, with its virtual time."""
        for at, event in self.events:
            yield f"{at:12.6f}  {event}"

    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines())
