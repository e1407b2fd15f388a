"""Who leads a partition, who is in sync and who else could lead, after something has happened.

The in-sync replicas lead. When there are none any more, one of the eligible leader replicas may:
those that were in sync when the minimum of in-sync replicas was last met, and have lost nothing
since (KIP-966). After that only the last leader known, which may have lost records, or with
`unclean.leader.election.enable` whoever is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ottla.controller.operation import Context
from ottla.metadata import NO_LEADER, MetadataImage, PartitionRegistration, Topic
from ottla.metadata.partition import (
    LEADER_UNCHANGED,
    MIGRATING_DIRECTORY,
    RECOVERING,
    UNASSIGNED_DIRECTORY,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord


class BrokerChange(NamedTuple):
    """What happens to a broker, which the image does not show yet."""

    # It leaves the in-sync replicas and may lead no more.
    removed: int | None = None
    # It may lead from now on.
    added: int | None = None
    # It came back without what it had not synced, and is eligible no more.
    unclean: int | None = None


class Rules(NamedTuple):
    """What decides about one partition."""

    can_lead: Callable[[int], bool]
    min_insync_replicas: int
    has_eligible_leader_replicas: bool
    allows_unclean_election: bool


def leadership_records(
    image: MetadataImage,
    context: Context,
    change: BrokerChange,
    is_affected: Callable[[PartitionRegistration], bool],
) -> list[Message]:
    """The changes of all partitions that a broker's change affects."""
    records: list[Message] = []
    for topic in image.topics:
        affected = {
            partition_id: partition
            for partition_id, partition in topic.partitions.items()
            if is_affected(partition)
        }
        if affected:
            records += _topic_records(image, context, change, topic, affected)
    return records


def _topic_records(
    image: MetadataImage,
    context: Context,
    change: BrokerChange,
    topic: Topic,
    affected: dict[int, PartitionRegistration],
) -> Iterable[Message]:
    configs = context.node.topic_config(image.topic_configs(topic.name))
    for partition_id, partition in affected.items():
        # A replica without others has nobody to whom it could have lost anything.
        unclean = change.unclean if len(partition.replicas) > 1 else None
        gone = {change.removed, change.unclean}
        rules = Rules(
            can_lead=_can_lead(image, partition, change.added, gone),
            min_insync_replicas=min(configs.min_insync_replicas, len(partition.replicas)),
            has_eligible_leader_replicas=image.has_eligible_leader_replicas,
            allows_unclean_election=configs.unclean_leader_election_enable,
        )
        isr = tuple(replica for replica in partition.isr if replica not in gone)
        record = change_partition(partition, isr, rules, unclean=unclean)
        if record is not None:
            record.topic_id, record.partition_id = topic.id, partition_id
            yield record


def change_partition(
    partition: PartitionRegistration,
    isr: tuple[int, ...],
    rules: Rules,
    *,
    unclean: int | None = None,
) -> PartitionChangeRecord | None:
    """The record that gives a partition these in-sync replicas and the leader that follows from
    them; None if nothing changes."""
    eligible = _eligible(partition, isr, rules, unclean)
    leader, is_clean = _elect(partition, isr, eligible, rules)
    record = PartitionChangeRecord()
    if leader != partition.leader:
        record.leader = leader
    if not is_clean:
        isr, eligible = (leader,), ()
        if partition.leader_recovery_state != RECOVERING:
            record.leader_recovery_state = RECOVERING
    elif leader in eligible:
        isr = (leader,)
        eligible = tuple(replica for replica in eligible if replica != leader)
    if eligible != partition.eligible_leader_replicas:
        record.eligible_leader_replicas = list(eligible)
    # Without eligible leader replicas, the last in-sync replica stays so when it is gone: it is
    # the only one that may come back.
    if isr != partition.isr and (isr or rules.has_eligible_leader_replicas):
        record.isr = list(isr)
    if rules.has_eligible_leader_replicas:
        _note_last_leader(partition, record, leader)
    return None if record == PartitionChangeRecord() else record


def _eligible(
    partition: PartitionRegistration, isr: tuple[int, ...], rules: Rules, unclean: int | None
) -> tuple[int, ...]:
    if not rules.has_eligible_leader_replicas or len(isr) >= rules.min_insync_replicas:
        return ()
    candidates = {*partition.eligible_leader_replicas, *partition.isr} - {*isr, unclean}
    return tuple(sorted(replica for replica in candidates if replica is not None))


def _elect(
    partition: PartitionRegistration,
    isr: tuple[int, ...],
    eligible: tuple[int, ...],
    rules: Rules,
) -> tuple[int, bool]:
    """The leader, the present one if it can go on, and whether it has everything."""
    for replica in (partition.leader, *partition.replicas):
        if replica in (isr or eligible) and rules.can_lead(replica):
            return replica, True
    if rules.has_eligible_leader_replicas and not isr and not eligible:
        last = partition.last_known_elr
        if len(last) == 1 and rules.can_lead(last[0]):
            return last[0], False
    if rules.allows_unclean_election:
        for replica in partition.replicas:
            if rules.can_lead(replica):
                return replica, False
    return NO_LEADER, True


def _note_last_leader(
    partition: PartitionRegistration, record: PartitionChangeRecord, leader: int
) -> None:
    """Remembers who led last while nobody does."""
    if leader != NO_LEADER:
        if partition.last_known_elr:
            record.last_known_elr = []
    elif record.leader != LEADER_UNCHANGED and record.isr == []:
        record.last_known_elr = [partition.leader]


def _can_lead(
    image: MetadataImage, partition: PartitionRegistration, added: int | None, gone: set[int | None]
) -> Callable[[int], bool]:
    def can_lead(replica: int) -> bool:
        if replica in gone or replica not in partition.replicas:
            return False
        if replica != added and not image.is_active(replica):
            return False
        online = image.brokers[replica].log_dirs
        directory = partition.directory_of(replica)
        return not online or directory in (*online, MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY)

    return can_lead
