"""Counts of a group's members by their properties, so that a change of one member needs no scan."""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

from ottla.coordinator.groups.consumer.member import ConsumerMember, MemberState

K = TypeVar("K")


class MemberCounts:
    """Owned by a group, which adds and removes its members. Zero counts are removed."""

    __slots__ = ("assignors", "classic", "protocols", "regexes", "stable", "topics")

    def __init__(self) -> None:
        self.topics: Counter[str] = Counter()
        self.regexes: Counter[str] = Counter()
        self.assignors: Counter[str] = Counter()
        # The members of the classic protocol, and the embedded protocols they support.
        self.classic = 0
        self.protocols: Counter[str] = Counter()
        # Members in the state Stable, by epoch.
        self.stable: Counter[int] = Counter()

    def add(self, member: ConsumerMember) -> None:
        self._count(member, 1)

    def remove(self, member: ConsumerMember) -> None:
        self._count(member, -1)

    def replace(self, before: ConsumerMember, after: ConsumerMember) -> None:
        """Updates the counts. Usually only the assignment and the epoch have changed."""
        if (
            before.topics is after.topics
            and before.regex == after.regex
            and before.assignor == after.assignor
            and before.classic is after.classic
        ):
            self._count_stable(before, -1)
            self._count_stable(after, 1)
            return
        self._count(before, -1)
        self._count(after, 1)

    def _count(self, member: ConsumerMember, step: int) -> None:
        for topic in member.topics:
            _step(self.topics, topic, step)
        if member.regex is not None:
            _step(self.regexes, member.regex, step)
        if member.assignor is not None:
            _step(self.assignors, member.assignor, step)
        if member.classic is not None:
            self.classic += step
            for protocol in {each.name for each in member.classic.supported_protocols}:
                _step(self.protocols, protocol, step)
        self._count_stable(member, step)

    def _count_stable(self, member: ConsumerMember, step: int) -> None:
        if member.state is MemberState.STABLE:
            _step(self.stable, member.epoch, step)


def _step(counter: Counter[K], key: K, step: int) -> None:
    count = counter[key] + step
    if count:
        counter[key] = count
    else:
        del counter[key]
