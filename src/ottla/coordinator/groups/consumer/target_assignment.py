"""Computes a new target assignment: the partitions of each member in an epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.assignors import ASSIGNORS, Steps, Subscriber
from ottla.assignors.assignor import NO_PARTITIONS, Assignment
from ottla.coordinator.groups.consumer.group_records import target_epoch_record, target_record
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.subscriptions import Subscriptions
from ottla.coordinator.runtime.outcome import CoordinatorRecord


def assign(
    members: Mapping[str, ConsumerMember],
    targets: Mapping[str, Assignment],
    subscriptions: Subscriptions,
    *,
    assignor: str,
) -> Steps[dict[str, Assignment]]:
    """`targets` is the current target assignment; the assignor keeps it as far as possible."""
    subscribers = {}
    for member_id, member in members.items():
        topics = subscriptions.topic_ids(member)
        target = targets.get(member_id, NO_PARTITIONS)
        subscribers[member_id] = Subscriber(topics, target, member.instance_id)
        yield 1
    return (yield from ASSIGNORS[assignor](subscribers, subscriptions.partition_counts))


def target_records(
    group_id: str,
    epoch: int,
    *,
    before: Mapping[str, Assignment],
    after: Mapping[str, Assignment],
    now_ms: int,
) -> list[CoordinatorRecord]:
    """The records of the changed targets, and then of the epoch, which completes the target."""
    changed = [
        target_record(group_id, member_id, target)
        for member_id, target in after.items()
        if before.get(member_id) != target
    ]
    return [*changed, target_epoch_record(group_id, epoch, now_ms=now_ms)]


def preferred_assignor(named: Mapping[str, int], assignors: Sequence[str]) -> str:
    """The assignor that most members request; on a tie or without requests, the first configured
    one."""
    return max(assignors, key=lambda assignor: named.get(assignor, 0))


def is_available(assignor: str, assignors: Sequence[str]) -> bool:
    return assignor in assignors and assignor in ASSIGNORS
