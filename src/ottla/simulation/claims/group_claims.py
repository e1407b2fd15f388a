"""The properties of consumer groups that every history must have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ottla.model import TopicPartition
from ottla.simulation.history.history import (
    Acknowledged,
    GroupCommitted,
    GroupOwns,
    GroupResumed,
    History,
    LogRecovered,
    Read,
)


class OneOwnerPerEpoch:
    """In each epoch of a group, a partition has at most one owner."""

    def check(self, history: History) -> Iterator[str]:
        owners: dict[tuple[str, TopicPartition, int], str] = {}
        for owns in history.of(GroupOwns):
            owner = owners.setdefault((owns.group, owns.partition, owns.epoch), owns.who)
            if owner != owns.who:
                yield (
                    f"{owns.partition} is owned by {owner} and {owns.who} in epoch {owns.epoch} "
                    f"of {owns.group}"
                )


class NoCommitLost:
    """A member resumes no earlier than the offset that is known to be committed, and nothing is
    committed in an epoch after a commit of a later epoch."""

    def check(self, history: History) -> Iterator[str]:
        for resumed in history.of(GroupResumed):
            if resumed.offset < resumed.floor:
                yield (
                    f"{resumed.who} resumes at {resumed.partition} {resumed.offset}, but "
                    f"{resumed.group} had committed {resumed.floor}"
                )
        for committed in history.of(GroupCommitted):
            if committed.later_epoch >= 0:
                yield (
                    f"{committed.who} has committed {committed.partition} {committed.offset} after "
                    f"another member did in epoch {committed.later_epoch}"
                )


class EverythingIsConsumed:
    """After recovery, each group has read every acknowledged record at least once."""

    def check(self, history: History) -> Iterator[str]:
        members = {owns.who: owns.group for owns in history.of(GroupOwns)}
        topics = {owns.partition.topic for owns in history.of(GroupOwns)}
        if not any(history.of(LogRecovered)):
            return
        seen: dict[tuple[str, TopicPartition], set[int]] = defaultdict(set)
        for read in history.of(Read):
            group = members.get(read.who.rpartition(".")[0])
            if group is not None:
                seen[group, read.partition].add(read.offset)
        for group in sorted(set(members.values())):
            for ack in history.of(Acknowledged):
                if ack.partition.topic not in topics:
                    continue
                if ack.offset >= 0 and ack.offset not in seen[group, ack.partition]:
                    yield f"no member of {group} has read {ack.partition} {ack.offset}"
