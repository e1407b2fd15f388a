"""Target assignments of large groups: computed in steps, so that other requests run in between.

A heartbeat schedules an assignment if the group epoch is ahead of the target epoch, at most once in
`consumer.assignment.interval.ms` (KIP-1263), so that a thousand members that join together need
only a few assignments. An assignment uses the group's state at its start; if the group changes
meanwhile, another one follows. Until it is written, members keep the last target.

The records are encoded in steps too. They are appended as one batch, so the target is atomic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, TypeAlias

from ottla.assignors import Steps
from ottla.assignors.assignor import Assignment
from ottla.coordinator.groups.consumer.configs import assignment_interval_ms
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.group_records import (
    target_epoch_record,
    target_record,
    target_tombstone,
)
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.subscriptions import Subscriptions
from ottla.coordinator.groups.consumer.target_assignment import assign, preferred_assignor
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.runtime.outcome import (
    NOTHING,
    CoordinatorRecord,
    EncodedRecords,
    Outcome,
)
from ottla.wire.records import GrowingBatch
from ottla.wire.stored.coordinator_records import GROUP_RECORDS

# The approximate limits, in microseconds, of an assignment within a heartbeat and of one step.
AT_ONCE_MAX: Final = 4_000
STEP_WORK: Final = 1_000
_WORK_OF_MEMBER: Final = 8
_WORK_OF_PARTITION: Final = 2
_WORK_OF_RECORD: Final = 25

_Job: TypeAlias = Steps[Outcome]


def cost(members: Mapping[str, ConsumerMember], subscriptions: Subscriptions) -> int:
    """The cost of an assignment that changes every member's target, in microseconds."""
    partitions = sum(subscriptions.partition_counts.values())
    return _WORK_OF_MEMBER * len(members) + _WORK_OF_PARTITION * partitions


def assign_later(context: GroupContext, group: ConsumerGroup) -> None:
    """Schedules a target assignment for the time the assignment interval allows."""
    group.is_assigning = True
    interval_ms = assignment_interval_ms(context, group.id)
    wait_ms = group.target_timestamp + interval_ms - context.now_ms()
    context.timers.schedule_if_absent(
        _key(group.id),
        # Limited to one interval, in case the clock was set back.
        delay_ms=min(max(wait_ms, 0), interval_ms),
        operation=partial(_begin, context, group.id),
    )


def _key(group_id: str) -> object:
    return ("assignment", group_id)


def _begin(context: GroupContext, group_id: str) -> Outcome:
    group = context.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        return NOTHING
    group.is_assigning = True
    return _go_on(context, group, _assigning(context, group))


def _go_on(context: GroupContext, group: ConsumerGroup, job: _Job) -> Outcome:
    """Runs one step, and schedules the next one after other work of the event loop."""
    work = 0
    try:
        while work < STEP_WORK:
            work += next(job)
    except StopIteration as finished:
        # A new group of the same name may exist by now and wait for the same timer.
        for each in (group, context.groups.get(group.id)):
            if isinstance(each, ConsumerGroup):
                each.is_assigning = False
        outcome: Outcome = finished.value
        return outcome
    context.timers.schedule(
        _key(group.id), delay_ms=0, operation=partial(_go_on, context, group, job)
    )
    return NOTHING


def _assigning(context: GroupContext, group: ConsumerGroup) -> _Job:
    epoch, members = group.epoch, dict(group.members)
    subscriptions = Subscriptions(group.counts.topics, group.regexes, context.image)
    assignor = preferred_assignor(group.counts.assignors, context.settings.consumer_assignors)
    yield STEP_WORK
    targets = yield from assign(members, dict(group.targets), subscriptions, assignor=assignor)
    target = _EncodedTarget(context, group)
    for member_id, assignment in targets.items():
        yield target.put(member_id, assignment)
    if context.groups.get(group.id) is not group or epoch <= group.target_epoch:
        return NOTHING
    target.follow(members)
    return target.finish(epoch)


class _EncodedTarget:
    """A target assignment, encoded for the log."""

    def __init__(self, context: GroupContext, group: ConsumerGroup) -> None:
        self._context = context
        self._group = group
        self._batch = GrowingBatch(context.clock.now_ms())
        self._changed: dict[str, Assignment] = {}

    def put(self, member_id: str, assignment: Assignment) -> int:
        """Encodes a member's target if it has changed. Returns the cost."""
        if self._group.targets.get(member_id) == assignment:
            return 1
        self._changed[member_id] = assignment
        self._add(target_record(self._group.id, member_id, assignment))
        return _WORK_OF_RECORD + len(assignment)

    def follow(self, members: Mapping[str, ConsumerMember]) -> None:
        """Updates the targets for members that left meanwhile; a static instance that returned
        under a new member id gets the target of the old one."""
        group = self._group
        for member_id in [each for each in self._changed if each not in group.members]:
            assignment = self._changed.pop(member_id)
            self._add(target_tombstone(group.id, member_id))
            instance_id = members[member_id].instance_id
            successor = None if instance_id is None else group.static_member(instance_id)
            if successor is not None:
                self.put(successor.id, assignment)

    def finish(self, epoch: int) -> Outcome:
        now_ms = self._context.now_ms()
        self._add(target_epoch_record(self._group.id, epoch, now_ms=now_ms))

        def apply() -> None:
            group = self._group
            group.targets.update(self._changed)
            group.target_epoch, group.target_timestamp = epoch, now_ms
            if group.epoch > epoch:
                assign_later(self._context, group)

        return Outcome(encoded=EncodedRecords(self._batch, apply))

    def _add(self, record: CoordinatorRecord) -> None:
        key, value, version = record
        encoded = None if value is None else GROUP_RECORDS.encode_value(value, version)
        self._batch.add(GROUP_RECORDS.encode_key(key), encoded)
