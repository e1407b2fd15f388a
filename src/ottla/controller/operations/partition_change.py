"""The new state of a partition when its replicas, its ISR or its brokers change.

The leader is elected from the ISR. If the ISR is empty, an eligible leader replica (ELR) can lead:
a replica that was in sync when the ISR last had min.insync.replicas, and has lost no records since
(KIP-966). Otherwise only the last known leader can, which may have lost records, or with
`unclean.leader.election.enable` any live replica.

The caller passes the target state of the partition. The steps from there:

    target ──complete reassignment──▶ compute ELR ──elect leader──▶ last known leader ──▶ record

Invariants after every change: the leader is in the ISR and can lead, or there is none; ISR and ELR
are disjoint subsets of the replicas.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple

from ottla.metadata import NO_LEADER, PartitionRegistration
from ottla.metadata.partition import RECOVERING
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord


class ElectionRule(Enum):
    """How to choose a leader. Every rule keeps the current leader rather than elect another
    replica, apart from the preferred one under PREFERRED."""

    ONLINE = auto()
    # The preferred replica first, then the current leader.
    PREFERRED = auto()
    # Any replica that can lead, if there would be no leader otherwise.
    UNCLEAN = auto()


class Rules(NamedTuple):
    """The conditions for the change of one partition."""

    can_lead: Callable[[int], bool]
    min_insync_replicas: int
    has_eligible_leader_replicas: bool
    election: ElectionRule = ElectionRule.ONLINE


def change_partition(
    before: PartitionRegistration,
    target: PartitionRegistration,
    rules: Rules,
    *,
    unclean: int | None = None,
) -> PartitionChangeRecord | None:
    """The record that changes the partition to the target, with the leader that follows from it;
    None if nothing changes. `unclean` is a replica that may have lost unflushed records."""
    after = _complete_reassignment(target)
    after = after._replace(eligible_leader_replicas=_eligible(before, after, rules, unclean))
    after = _elect(before, after, rules)
    if rules.has_eligible_leader_replicas:
        after = after._replace(last_known_elr=_last_known(before, after))
    elif not after.isr:
        after = after._replace(isr=_last_in_sync(before, after))
    return _difference(before, after)


def _complete_reassignment(target: PartitionRegistration) -> PartitionRegistration:
    """Drops the replicas being removed, once all others are in sync."""
    removing = target.removing_replicas
    if not removing and not target.adding_replicas:
        return target
    staying = [each for each in target.replicas if each not in removing]
    isr = tuple(each for each in target.isr if each not in removing)
    if not staying or not isr or not set(staying).issubset(isr):
        return target
    return target._replace(
        replicas=tuple(staying),
        isr=isr,
        directories=tuple(target.directory_of(each) for each in staying),
        removing_replicas=(),
        adding_replicas=(),
    )


def _eligible(
    before: PartitionRegistration,
    after: PartitionRegistration,
    rules: Rules,
    unclean: int | None,
) -> tuple[int, ...]:
    minimum = min(rules.min_insync_replicas, len(after.replicas))
    if not rules.has_eligible_leader_replicas or len(after.isr) >= minimum:
        return ()
    candidates = {*before.eligible_leader_replicas, *before.isr}.intersection(after.replicas)
    return tuple(sorted(candidates.difference(after.isr, (unclean,))))


def _elect(
    before: PartitionRegistration, after: PartitionRegistration, rules: Rules
) -> PartitionRegistration:
    """The partition with its leader: the current one if it can keep leading."""
    eligible = after.eligible_leader_replicas
    candidates = [before.leader, *after.replicas]
    if rules.election is ElectionRule.PREFERRED:
        candidates.insert(0, after.preferred_leader)
    for replica in candidates:
        if replica in (after.isr or eligible) and rules.can_lead(replica):
            if replica in eligible:
                left = tuple(each for each in eligible if each != replica)
                after = after._replace(isr=(replica,), eligible_leader_replicas=left)
            return after._replace(leader=replica)
    leader = _elect_incomplete(before, after, rules)
    if leader == NO_LEADER:
        return after._replace(leader=NO_LEADER)
    return after._replace(
        leader=leader,
        isr=(leader,),
        eligible_leader_replicas=(),
        leader_recovery_state=RECOVERING,
    )


def _elect_incomplete(
    before: PartitionRegistration, after: PartitionRegistration, rules: Rules
) -> int:
    """A leader that may lack records, if one is allowed."""
    last = before.last_known_elr
    is_lost = not after.isr and not after.eligible_leader_replicas
    if rules.has_eligible_leader_replicas and is_lost and len(last) == 1:
        (leader,) = last
        if leader in after.replicas and rules.can_lead(leader):
            return leader
    if rules.election is ElectionRule.UNCLEAN:
        return next(filter(rules.can_lead, after.replicas), NO_LEADER)
    return NO_LEADER


def _last_known(before: PartitionRegistration, after: PartitionRegistration) -> tuple[int, ...]:
    """The last leader, while there is none."""
    if after.leader != NO_LEADER:
        return ()
    has_just_lost_all = before.leader != NO_LEADER and not after.isr
    return (before.leader,) if has_just_lost_all else before.last_known_elr


def _last_in_sync(before: PartitionRegistration, after: PartitionRegistration) -> tuple[int, ...]:
    """Without ELR, an ISR that would become empty keeps its last replicas: only they can be elected
    cleanly again."""
    if not before.isr:
        return ()
    return tuple(each for each in before.isr if each in after.replicas) or after.replicas[:1]


_LISTS: Final = (
    "isr",
    "replicas",
    "removing_replicas",
    "adding_replicas",
    "directories",
    "eligible_leader_replicas",
    "last_known_elr",
)


def _difference(
    before: PartitionRegistration, after: PartitionRegistration
) -> PartitionChangeRecord | None:
    assert after.leader == NO_LEADER or after.leader in after.isr
    assert not set(after.isr).intersection(after.eligible_leader_replicas)
    record = PartitionChangeRecord()
    # A record with a leader starts a new leader epoch, even if the leader stays: a removed replica
    # must not keep replicating in the old epoch.
    if after.leader != before.leader or not set(before.replicas).issubset(after.replicas):
        record.leader = after.leader
    if after.leader_recovery_state != before.leader_recovery_state:
        record.leader_recovery_state = after.leader_recovery_state
    for name in _LISTS:
        changed = getattr(after, name)
        if changed != getattr(before, name):
            setattr(record, name, list(changed))
    return None if record == PartitionChangeRecord() else record
