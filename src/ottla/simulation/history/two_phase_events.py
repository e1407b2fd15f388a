"""The events of queries that write in two phases."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.model import TopicPartition
from ottla.simulation.history.history import Event
from ottla.simulation.history.transaction_events import LoggedRow


@dataclass(frozen=True, slots=True)
class DriverBeginning(Event):
    """A driver is about to initialize its producer, which fences earlier drivers."""

    query: str
    number: int


@dataclass(frozen=True, slots=True)
class DriverBegan(Event):
    """The driver's producer is initialized."""

    query: str
    number: int


@dataclass(frozen=True, slots=True)
class DecisionSending(Event):
    """A driver is about to write its decision; `number` is that of its last DriverBegan."""

    query: str
    batch_id: int
    number: int


@dataclass(frozen=True, slots=True)
class DecisionWritten(Event):
    """The decision was acknowledged."""

    query: str
    batch_id: int
    number: int


@dataclass(frozen=True, slots=True)
class DecisionRead(Event):
    """A driver or task read the query's last decision (-1: none), which must not be older than
    `floor`."""

    query: str
    batch_id: int
    floor: int


@dataclass(frozen=True, slots=True)
class BatchCommitted(Event):
    """A driver's commit of a batch has succeeded."""

    query: str
    batch_id: int


@dataclass(frozen=True, slots=True)
class OutputHas(Event):
    """The content of a replica of the queries' output at the end."""

    partition: TopicPartition
    rows: tuple[LoggedRow, ...]

    def __str__(self) -> str:
        return f"{self.who:<12} holds {len(self.rows)} rows of queries in {self.partition}"
