"""The properties of deleted, restored and purged topics that every history must have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ottla.simulation.history.deletion_events import (
    DirectoryLeft,
    TopicUndeleted,
    UndeleteRefused,
)
from ottla.simulation.history.history import Acknowledged, History, ReplicaHas


class UndeletedTopicsAreWhole:
    """A restored topic has every record that was acknowledged before its deletion, once, on every
    replica."""

    def check(self, history: History) -> Iterator[str]:
        restored = {event.topic for event in history.of(TopicUndeleted)}
        held = {
            (replica.who, replica.partition): Counter(value for _, _, value in replica.records)
            for replica in history.of(ReplicaHas)
            if replica.partition.topic in restored
        }
        for ack in history.of(Acknowledged):
            for (who, partition), values in held.items():
                if partition == ack.partition and values[ack.value] != 1:
                    yield (
                        f"{ack.value!r} of {partition} was acknowledged and is on {who} "
                        f"{values[ack.value]} times"
                    )


class NothingIsPurgedEarly:
    """Until its time is over, a deleted topic can be restored, unless it was purged or a disk ran
    full."""

    def check(self, history: History) -> Iterator[str]:
        for refused in history.of(UndeleteRefused):
            yield f"{refused.topic} could not be restored: {refused.error}"


class PurgedTopicsAreGone:
    """No node keeps the logs of a topic that was purged, or whose time is over."""

    def check(self, history: History) -> Iterator[str]:
        for left in history.of(DirectoryLeft):
            yield f"{left.who} has {left.directory}"


DELETION_CLAIMS = (UndeletedTopicsAreWhole(), NothingIsPurgedEarly(), PurgedTopicsAreGone())
