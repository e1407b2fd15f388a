"""What an assignor is given and what it decides."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from ottla.model import Uuid

T = TypeVar("T")

# A computation in steps. Each tells its work, of about a microsecond.
Steps: TypeAlias = Generator[int, None, T]


class TopicIdPartition(NamedTuple):
    topic_id: Uuid
    partition: int


Assignment: TypeAlias = frozenset[TopicIdPartition]
NO_PARTITIONS: Assignment = frozenset()


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A member: what it wants, and what it was to have so far."""

    topics: frozenset[Uuid]
    assigned: Assignment = NO_PARTITIONS
    instance_id: str | None = None


class Assignor(Protocol):
    """A pure function: the same question has the same answer. Large groups are assigned in steps,
    between which other requests are served."""

    def __call__(
        self, members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
    ) -> Steps[dict[str, Assignment]]:
        """What each member is to have; every partition of a topic that somebody wants has one
        owner, who wants it. The counts are those of topics that there are."""


def finish(steps: Steps[T]) -> T:
    """The result, at once."""
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: T = finished.value
            return result
