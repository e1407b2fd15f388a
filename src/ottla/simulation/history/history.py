"""The events of a run, in order: the input of the claims, and what a replay must reproduce.

Events are values with one line of text each, so that two histories can be compared byte by byte and
a person can read the end of a failed one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from ottla.model import TopicPartition


@dataclass(frozen=True, slots=True)
class Event:
    """An event. `who` is the name of the node, client or host."""

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
    """A producer got a fatal error."""

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
    """A consumer received a high watermark from the leader of an epoch."""

    partition: TopicPartition
    leader: int
    leader_epoch: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class ReaderLost(Event):
    """A consumer's position was out of range."""

    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class GroupOwns(Event):
    """A member of a group was assigned a partition, or keeps it, in a member epoch."""

    group: str
    partition: TopicPartition
    epoch: int


@dataclass(frozen=True, slots=True)
class GroupCommitted(Event):
    """A member's commit was acknowledged. `later_epoch` is that of another commit of the partition
    which was acknowledged before this one was sent; -1 without one of a later epoch."""

    group: str
    partition: TopicPartition
    offset: int
    later_epoch: int = -1


@dataclass(frozen=True, slots=True)
class GroupResumed(Event):
    """A member fetched its group's offset, which must not be below `floor`."""

    group: str
    partition: TopicPartition
    offset: int
    floor: int


@dataclass(frozen=True, slots=True)
class QuorumLeaderSeen(Event):
    """A node considered `leader` the leader of the metadata quorum in an epoch."""

    leader: int
    epoch: int


@dataclass(frozen=True, slots=True)
class VoteSeen(Event):
    """A node voted for a candidate in an epoch of the metadata quorum."""

    candidate: int
    epoch: int


@dataclass(frozen=True, slots=True)
class PartitionLed(Event):
    """A node led a partition in an epoch. A recreated topic has another id."""

    partition: TopicPartition
    topic_id: str
    node: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class ImageSeen(Event):
    """The digest of a node's metadata image at an offset."""

    offset: int
    digest: str


@dataclass(frozen=True, slots=True)
class InSyncReplicaLacks(Event):
    """An in-sync replica lacked committed records."""

    partition: TopicPartition
    what: str


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """An unexpected failure: no fault explains it."""

    what: str


@dataclass(frozen=True, slots=True)
class ReplicaHas(Event):
    """The records of a replica at the end: (offset, leader epoch, value) each."""

    partition: TopicPartition
    records: tuple[tuple[int, int, bytes], ...]

    def __str__(self) -> str:
        return f"{self.who:<12} holds {len(self.records)} records of {self.partition}"


@dataclass(frozen=True, slots=True)
class Healed(Event):
    """All faults are over."""


@dataclass(frozen=True, slots=True)
class LogRecovered(Event):
    """The cluster and all clients have recovered, this long after the faults were healed."""

    seconds: float


E = TypeVar("E", bound=Event)


class History:
    """The events of a world, in order. Only the world appends to it."""

    def __init__(self) -> None:
        self.events: list[tuple[float, Event]] = []
        # The same events by class, for claims that read only one class.
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
