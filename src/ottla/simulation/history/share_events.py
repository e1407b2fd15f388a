"""Events of share groups."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.model import TopicPartition
from ottla.simulation.history.history import Event


@dataclass(frozen=True, slots=True)
class ShareAsked(Event):
    """A member sends a fetch; its number is unique for the member and the partition."""

    partition: TopicPartition
    number: int


@dataclass(frozen=True, slots=True)
class ShareSettled(Event):
    """A record may be done: a member sent its acknowledgement, or its last delivery was used."""

    partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class ShareDelivered(Event):
    """A member received locked records, with the fetch of this number."""

    partition: TopicPartition
    first: int
    last: int
    delivery_count: int
    number: int


@dataclass(frozen=True, slots=True)
class ShareFinished(Event):
    """A member's acknowledgement was answered: the record is done."""

    partition: TopicPartition
    offset: int
    delivery_count: int
