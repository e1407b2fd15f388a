"""A new target assignment: what each member is to have in an epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ottla.coordinator.groups.assignors import ASSIGNORS, Subscriber
from ottla.coordinator.groups.assignors.assignor import NO_PARTITIONS, Assignment
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
) -> dict[str, Assignment]:
    """`targets` are those so far, of which as much as possible stays."""
    counts = subscriptions.partition_counts
    return ASSIGNORS[assignor](
        {
            member.id: Subscriber(
                subscriptions.topic_ids(member),
                targets.get(member.id, NO_PARTITIONS),
                member.instance_id,
            )
            for member in members.values()
        },
        counts,
    )


def target_records(
    group_id: str,
    epoch: int,
    *,
    before: Mapping[str, Assignment],
    after: Mapping[str, Assignment],
    now_ms: int,
) -> list[CoordinatorRecord]:
    """What has changed, and after that the epoch: with it, the target is whole."""
    changed = [
        target_record(group_id, member_id, target)
        for member_id, target in after.items()
        if before.get(member_id) != target
    ]
    return [*changed, target_epoch_record(group_id, epoch, now_ms=now_ms)]


def preferred_assignor(members: Mapping[str, ConsumerMember], assignors: Sequence[str]) -> str:
    """The one that most members name, or else the first that is configured."""
    named = Counter(member.assignor for member in members.values() if member.assignor in assignors)
    found = max(named.items(), key=lambda item: item[1], default=(None, 0))[0]
    return found or assignors[0]


def is_available(assignor: str, assignors: Sequence[str]) -> bool:
    return assignor in assignors and assignor in ASSIGNORS
