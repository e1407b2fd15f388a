"""A planned change of a group of the consumer protocol: its records, and the group after it.

The group itself changes only when the records are appended. The cost depends on the size of the
change, not on the size of the group.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final

from ottla.assignors import finish
from ottla.assignors.assignor import NO_PARTITIONS, Assignment
from ottla.coordinator.groups.client import Describable
from ottla.coordinator.groups.consumer.assigning import AT_ONCE_MAX, assign_later, cost
from ottla.coordinator.groups.consumer.group import ConsumerGroup
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
from ottla.coordinator.groups.consumer.member_counts import MemberCounts
from ottla.coordinator.groups.consumer.resolved_regex import ResolvedRegex
from ottla.coordinator.groups.consumer.subscriptions import Subscriptions
from ottla.coordinator.groups.consumer.target_assignment import (
    assign,
    preferred_assignor,
    target_records,
)
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.runtime.outcome import NOTHING, CoordinatorRecord, Outcome

# The topics of an expression are one record. Records with more topics than this are written at most
# every ten seconds; Kafka applies that limit to all expressions.
_OFTEN_MAX: Final = 1_000
_REFRESH_MS: Final = 10_000


class GroupChange:
    """Created for one request."""

    def __init__(
        self,
        context: GroupContext,
        group: ConsumerGroup,
        *,
        describable: Describable | None = None,
    ) -> None:
        """`describable` limits the topics of regular expressions to those that the client may
        describe. Without it, as when a session expires, an expression gets no new topics."""
        self.records: list[CoordinatorRecord] = []
        self.epoch = group.epoch
        self.target_epoch = group.target_epoch
        self._context = context
        self._group = group
        self._describable = describable
        # The changed members; None for a removed member.
        self._members: dict[str, ConsumerMember | None] = {}
        self._delta = MemberCounts()
        self._targets: dict[str, Assignment] = {}
        # Replaced by a new dict on a change, never modified.
        self._regexes = group.regexes

    def target_of(self, member_id: str) -> Assignment:
        found = self._targets.get(member_id)
        return self._group.target_of(member_id) if found is None else found

    def put(self, member: ConsumerMember) -> None:
        """Adds or updates a member's metadata; its assignment is recorded later."""
        self._note(member.id, member)
        self.records.append(member_record(self._group.id, member))

    def remove(self, member_id: str) -> None:
        self._note(member_id, None)
        self._targets[member_id] = NO_PARTITIONS
        self.records += member_tombstones(self._group.id, member_id)

    def _note(self, member_id: str, member: ConsumerMember | None) -> None:
        before = self._members.get(member_id, self._group.members.get(member_id))
        if before is not None:
            self._delta.remove(before)
        if member is not None:
            self._delta.add(member)
        self._members[member_id] = member

    def replace_static(self, old: ConsumerMember, new: ConsumerMember) -> None:
        """Replaces a static member that has returned; the new one keeps its assignment."""
        group_id, target = self._group.id, self.target_of(old.id)
        self.remove(old.id)
        self.put(new)
        self._targets[new.id] = target
        self.records.append(target_record(group_id, new.id, target))
        self.records.append(current_assignment_record(group_id, new))

    def settle(self, *, has_changed: bool) -> None:
        """Raises the group epoch if the subscriptions or their topics have changed."""
        group = self._group
        are_regexes_other = self._resolve_regexes()
        has_changed |= are_regexes_other
        metadata_hash = group.metadata_hash
        if group.is_metadata_stale or are_regexes_other or self._changes_topics():
            metadata_hash = self._subscriptions().metadata_hash
        if not has_changed and metadata_hash == group.metadata_hash:
            return
        self.epoch += 1
        self.records.append(group_record(group.id, epoch=self.epoch, metadata_hash=metadata_hash))

    def assign(self) -> None:
        """Computes a target assignment for the group epoch. For a large group it is scheduled."""
        group, context = self._group, self._context
        if group.is_assigning:
            return
        subscriptions, members = self._subscriptions(), self._members_after()
        # Without a target there is no epoch for the first member, so that one is computed now.
        if self.target_epoch and cost(members, subscriptions) > AT_ONCE_MAX:
            assign_later(context, group)
            return
        before = {**group.targets, **self._targets}
        assignor = preferred_assignor(
            _sum(group.counts.assignors, self._delta.assignors),
            context.settings.consumer_assignors,
        )
        targets = finish(assign(members, before, subscriptions, assignor=assignor))
        self.records += target_records(
            group.id, self.epoch, before=before, after=targets, now_ms=context.now_ms()
        )
        self._targets, self.target_epoch = targets, self.epoch

    # ---- the group after the change

    def _members_after(self) -> dict[str, ConsumerMember]:
        after = {**self._group.members, **self._members}
        return {member_id: member for member_id, member in after.items() if member is not None}

    def _subscriptions(self) -> Subscriptions:
        topics = _sum(self._group.counts.topics, self._delta.topics)
        return Subscriptions(topics, self._regexes, self._context.image)

    def _changes_topics(self) -> bool:
        """Whether a topic gets its first subscribed member or loses its last."""
        known = self._group.counts.topics
        return any(
            (known[topic] > 0) is not (known[topic] + step > 0)
            for topic, step in self._delta.topics.items()
        )

    # ---- regular expressions

    def _resolve_regexes(self) -> bool:
        """Resolves the expressions. Returns whether the topics of one have changed."""
        known, delta = self._group.counts.regexes, self._delta.regexes
        if self._group.is_metadata_stale:
            used = set(_sum(known, delta))
            unused = set(self._regexes) - used
        else:
            used = {regex for regex in delta if known[regex] + delta[regex] > 0}
            unused = (delta.keys() - used) & self._regexes.keys()
        for regex in sorted(unused):
            self._regexes = {each: it for each, it in self._regexes.items() if each != regex}
            self.records.append(regex_tombstone(self._group.id, regex))
        has_changed = False
        for regex in sorted(used):
            before = self._regexes.get(regex)
            topics = self._find(regex, before)
            if topics is not None:
                topics = self._visible(topics, before)
            if topics is None:
                continue
            if before is None or before.topics != topics:
                self._put_regex(regex, topics)
                has_changed = True
            elif not before.has_version:
                self._put_regex(regex, topics)
        return has_changed

    def _visible(
        self, topics: frozenset[str], before: ResolvedRegex | None
    ) -> frozenset[str] | None:
        if self._describable is not None:
            return self._describable(topics)
        return None if before is None else topics & before.topics

    def _put_regex(self, regex: str, topics: frozenset[str]) -> None:
        context = self._context
        resolved = ResolvedRegex(
            topics, version=context.metadata_offset, timestamp=context.now_ms()
        )
        self._regexes = {**self._regexes, regex: resolved}
        self.records.append(regex_record(self._group.id, regex, resolved))

    def _find(self, regex: str, before: ResolvedRegex | None) -> frozenset[str] | None:
        """The topics of an expression, or None if the group has to check again later: matching has
        not finished, or the record is large and was written too recently."""
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


def _sum(counts: Counter[str], delta: Counter[str]) -> Counter[str]:
    """The sum, without zero counts."""
    if not delta:
        return counts
    return Counter({key: n for key in counts | delta if (n := counts[key] + delta[key]) > 0})
