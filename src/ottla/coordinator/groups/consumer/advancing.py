"""Processes a member's request: updates the member, assigns partitions, reconciles the member."""

from __future__ import annotations

from ottla.assignors.assignor import Assignment, TopicIdPartition
from ottla.coordinator.groups.consumer.changing import GroupChange
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.group_records import current_assignment_record
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.reconciliation import reconcile
from ottla.coordinator.groups.consumer.sessions import ConsumerSessions
from ottla.coordinator.runtime.outcome import OnCommitted, Outcome
from ottla.model import ErrorCode


def advance(
    group: ConsumerGroup,
    change: GroupChange,
    sessions: ConsumerSessions,
    *,
    known: ConsumerMember | None,
    before: ConsumerMember,
    updated: ConsumerMember,
    owned: Assignment | None,
) -> ConsumerMember:
    """Returns the member after the request. `known` is the group's member, or the static member
    that this one replaces, or None; `before` is the state to compare with; `updated` is `before`
    with the request's fields."""
    if known is not None and (known.id != updated.id or known.epoch < 0):
        change.replace_static(known, updated)
    elif updated != known:
        change.put(updated)
    wants_other = (updated.topics, updated.regex) != (before.topics, before.regex)
    if wants_other or group.is_metadata_stale or known is None:
        change.settle(has_changed=wants_other)
        group.is_metadata_stale = False
    if change.epoch > change.target_epoch:
        change.assign()
    if updated.is_reconciled_to(change.target_epoch):
        return updated

    def is_free(partition: TopicIdPartition) -> bool:
        return group.owner_of(partition) in (None, updated.id)

    current = reconcile(
        updated,
        target_epoch=change.target_epoch,
        target=change.target_of(updated.id),
        owned=owned,
        is_free=is_free,
    )
    if current != updated:
        change.records.append(current_assignment_record(group.id, current))
        sessions.follow(group.id, current)
    return current


def stale_again(group: ConsumerGroup) -> OnCommitted:
    """Marks the metadata as stale again if the records could not be committed."""

    def mark_stale(error: ErrorCode) -> Outcome:
        group.is_metadata_stale |= bool(error)
        return Outcome()

    return mark_stale
