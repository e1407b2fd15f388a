"""The interface of assignors: their inputs and results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from ottla.model import Uuid

T = TypeVar("T")

# A computation in steps. Each step yields its cost, in units of about a microsecond.
Steps: TypeAlias = Generator[int, None, T]


class TopicIdPartition(NamedTuple):
    topic_id: Uuid
    partition: int


Assignment: TypeAlias = frozenset[TopicIdPartition]
NO_PARTITIONS: Assignment = frozenset()


def by_topic(assignment: Assignment) -> dict[Uuid, list[int]]:
    """Partition numbers by topic, sorted, so that equal assignments have equal records."""
    found: dict[Uuid, list[int]] = defaultdict(list)
    for topic_id, number in sorted(assignment):
        found[topic_id].append(number)
    return found


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A member: its subscribed topics and its current target assignment."""

    topics: frozenset[Uuid]
    assigned: Assignment = NO_PARTITIONS
    instance_id: str | None = None


class Assignor(Protocol):
    """A deterministic pure function. Large groups are assigned in steps, so that other requests are
    served in between."""

    def __call__(
        self, members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
    ) -> Steps[dict[str, Assignment]]:
        """The assignment of each member: every partition of a subscribed topic gets one subscribed
        member. `partition_counts` contains only existing topics."""


def finish(steps: Steps[T]) -> T:
    """Runs all steps and returns the result."""
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            result: T = finished.value
            return result
