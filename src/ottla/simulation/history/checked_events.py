"""What happens to records of a topic that checks schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ottla.model import TopicPartition
from ottla.simulation.history.history import Event


class LetterRow(NamedTuple):
    """A dead letter, and the place that its headers name."""

    value: bytes
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class CheckedAcknowledged(Event):
    """A record was acknowledged: it is in the topic or in the dead letter topic."""

    partition: TopicPartition
    value: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class LettersHeld(Event):
    """What a replica of the dead letter topic has at the end."""

    partition: TopicPartition
    rows: tuple[LetterRow, ...]
