"""A change of a group of the consumer protocol in the making: its records, and what it is after.

Nothing is changed before the records are appended; this is the group as it will be by then.
"""

from __future__ import annotations

from functools import partial
from typing import Final, TypeVar

from ottla.coordinator.groups.assignors.assignor import NO_PARTITIONS, Assignment
from ottla.coordinator.groups.consumer.group import ConsumerGroup, ResolvedRegex
from ottla.coordinator.groups.consumer.group_records import (
    current_assignment_record,
    group_record,
    member_record,
    member_tombstones,
    regex_record,
    regex_tombstone,
    target_record,
)
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.subscriptions import Subscriptions
from ottla.coordinator.groups.consumer.target_assignment import (
    assign,
    preferred_assignor,
    target_records,
)
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.runtime.outcome import NOTHING, CoordinatorRecord, Outcome

T = TypeVar("T")

# The topics of an expression are one record. Larger ones are written every ten seconds at most,
# which Kafka does with all of them.
_OFTEN_MAX: Final = 1_000
_REFRESH_MS: Final = 10_000


class GroupChange:
    """Made for one request."""

    def __init__(self, context: GroupContext, group: ConsumerGroup) -> None:
        self.records: list[CoordinatorRecord] = []
        self.epoch = group.epoch
        self.target_epoch = group.target_epoch
        self._context = context
        self._group = group
        # Replaced, never changed, so that a heartbeat without news copies nothing.
        self._members = group.members
        self._targets = group.targets
        self._regexes = group.regexes

    def target_of(self, member_id: str) -> Assignment:
        return self._targets.get(member_id, NO_PARTITIONS)

    def put(self, member: ConsumerMember) -> None:
        """Notes who a member is; what it has comes later."""
        self._members = {**self._members, member.id: member}
        self.records.append(member_record(self._group.id, member))

    def remove(self, member_id: str) -> None:
        self._members = _without(self._members, member_id)
        self._targets = _without(self._targets, member_id)
        self.records += member_tombstones(self._group.id, member_id)

    def replace_static(self, old: ConsumerMember, new: ConsumerMember) -> None:
        """An instance that comes back has what it had."""
        group_id, target = self._group.id, self.target_of(old.id)
        self.remove(old.id)
        self.put(new)
        self._targets = {**self._targets, new.id: target}
        self.records.append(target_record(group_id, new.id, target))
        self.records.append(current_assignment_record(group_id, new))

    def settle(self, *, has_changed: bool) -> None:
        """Bumps the group's epoch if anything has changed: what members want, or the topics that
        there are for it."""
        group = self._group
        has_changed |= self._resolve_regexes()
        subscriptions = self._subscriptions()
        if not has_changed and subscriptions.metadata_hash == group.metadata_hash:
            return
        self.epoch += 1
        self.records.append(
            group_record(group.id, epoch=self.epoch, metadata_hash=subscriptions.metadata_hash)
        )

    def assign(self) -> None:
        """A target assignment for the group's epoch."""
        assignor = preferred_assignor(self._members, self._context.settings.consumer_assignors)
        targets = assign(self._members, self._targets, self._subscriptions(), assignor=assignor)
        self.records += target_records(
            self._group.id,
            self.epoch,
            before=self._targets,
            after=targets,
            now_ms=self._context.now_ms(),
        )
        self._targets, self.target_epoch = targets, self.epoch

    def _subscriptions(self) -> Subscriptions:
        return Subscriptions.of(self._members.values(), self._regexes, self._context.image)

    def _resolve_regexes(self) -> bool:
        """Whether one stands for other topics than it did."""
        used = {member.regex for member in self._members.values() if member.regex is not None}
        for regex in sorted(set(self._regexes) - used):
            self._regexes = _without(self._regexes, regex)
            self.records.append(regex_tombstone(self._group.id, regex))
        has_changed = False
        for regex in sorted(used):
            before = self._regexes.get(regex)
            topics = self._find(regex, before)
            if topics is None or (before is not None and before.topics == topics):
                continue
            now_ms = self._context.now_ms()
            resolved = ResolvedRegex(topics, version=now_ms, timestamp=now_ms)
            self._regexes = {**self._regexes, regex: resolved}
            self.records.append(regex_record(self._group.id, regex, resolved))
            has_changed = True
        return has_changed

    def _find(self, regex: str, before: ResolvedRegex | None) -> frozenset[str] | None:
        """The topics of an expression, or None if the group has to look again: they are not known
        yet, or there are many, all of which have to be written, and they were just before."""
        context, group_id = self._context, self._group.id
        if before is not None and len(before.topics) > _OFTEN_MAX:
            wait_ms = before.timestamp + _REFRESH_MS - context.now_ms()
            if 0 < wait_ms <= _REFRESH_MS:
                context.timers.schedule_if_absent(
                    ("regexes", group_id),
                    delay_ms=wait_ms,
                    operation=partial(_look_again, context.groups, group_id),
                )
                return None
        return context.regexes.find(
            regex,
            waiter=(context.groups, group_id),
            when_found=partial(_look_again, context.groups, group_id),
        )


def _look_again(groups: Groups, group_id: str) -> Outcome:
    group = groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        group.is_metadata_stale = True
    return NOTHING


def _without(known: dict[str, T], key: str) -> dict[str, T]:
    return {each: value for each, value in known.items() if each != key}
