"""Elections: who leads when in-sync replicas come and go (KIP-966)."""

import pytest

from ottla.controller.operations.leadership import Rules, change_partition
from ottla.metadata import NO_LEADER, PartitionRegistration
from ottla.metadata.partition import RECOVERING
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord
from tests.cluster_images import uuid


def partition(
    *,
    isr: tuple[int, ...] = (1, 2, 3),
    leader: int = 1,
    elr: tuple[int, ...] = (),
    last_known: tuple[int, ...] = (),
) -> PartitionRegistration:
    return PartitionRegistration(
        replicas=(1, 2, 3),
        isr=isr,
        leader=leader,
        leader_epoch=5,
        partition_epoch=5,
        directories=(uuid(1), uuid(2), uuid(3)),
        eligible_leader_replicas=elr,
        last_known_elr=last_known,
    )


def rules(
    *alive: int, min_isr: int = 2, has_elr: bool = True, allows_unclean: bool = False
) -> Rules:
    return Rules(
        can_lead=lambda replica: replica in alive,
        min_insync_replicas=min_isr,
        has_eligible_leader_replicas=has_elr,
        allows_unclean_election=allows_unclean,
    )


def test_nothing_changes_if_nothing_happened() -> None:
    assert change_partition(partition(), (1, 2, 3), rules(1, 2, 3)) is None


def test_follower_that_goes_takes_no_leadership_with_it() -> None:
    record = change_partition(partition(), (1, 2), rules(1, 2))
    assert record == PartitionChangeRecord(isr=[1, 2])


def test_leader_that_goes_is_followed_by_the_next_in_sync_replica() -> None:
    record = change_partition(partition(), (2, 3), rules(2, 3))
    assert record == PartitionChangeRecord(isr=[2, 3], leader=2)


def test_replica_below_the_minimum_becomes_eligible() -> None:
    record = change_partition(partition(isr=(1, 2)), (1,), rules(1))
    assert record == PartitionChangeRecord(isr=[1], eligible_leader_replicas=[2])


def test_last_in_sync_replica_stays_eligible_and_is_remembered_as_leader() -> None:
    before = partition(isr=(1,), elr=(2,))
    record = change_partition(before, (), rules())
    assert record == PartitionChangeRecord(
        isr=[], leader=NO_LEADER, eligible_leader_replicas=[1, 2], last_known_elr=[1]
    )


def test_eligible_replica_leads_when_nobody_is_in_sync() -> None:
    before = partition(isr=(), leader=NO_LEADER, elr=(1, 2), last_known=(1,))
    record = change_partition(before, (), rules(2))
    assert record == PartitionChangeRecord(
        isr=[2], leader=2, eligible_leader_replicas=[1], last_known_elr=[]
    )


def test_replica_that_lost_records_is_not_eligible() -> None:
    record = change_partition(partition(isr=(1,), elr=(2,)), (), rules(), unclean=1)
    assert record == PartitionChangeRecord(isr=[], leader=NO_LEADER, last_known_elr=[1])


def test_last_known_leader_leads_when_nobody_is_eligible_and_may_lack_records() -> None:
    before = partition(isr=(), leader=NO_LEADER, last_known=(1,))
    assert change_partition(before, (), rules(2, 3)) is None
    record = change_partition(before, (), rules(1, 2, 3))
    assert record == PartitionChangeRecord(
        isr=[1], leader=1, leader_recovery_state=RECOVERING, last_known_elr=[]
    )


def test_unclean_election_takes_whoever_is_there_only_where_it_is_allowed() -> None:
    before = partition(isr=(1,), elr=(2,))
    refused = change_partition(before, (), rules(3))
    assert refused is not None
    assert refused.leader == NO_LEADER
    record = change_partition(before, (), rules(3, allows_unclean=True))
    assert record == PartitionChangeRecord(
        isr=[3], leader=3, leader_recovery_state=RECOVERING, eligible_leader_replicas=[]
    )


def test_reaching_the_minimum_ends_eligibility() -> None:
    before = partition(isr=(1,), elr=(2, 3))
    record = change_partition(before, (1, 2), rules(1, 2))
    assert record == PartitionChangeRecord(isr=[1, 2], eligible_leader_replicas=[])


@pytest.mark.parametrize("alive", [(), (2, 3)])
def test_without_eligible_replicas_the_last_in_sync_replica_stays_so(
    alive: tuple[int, ...],
) -> None:
    record = change_partition(partition(isr=(1,)), (), rules(*alive, has_elr=False))
    assert record == PartitionChangeRecord(leader=NO_LEADER)
    before = partition(isr=(1,), leader=NO_LEADER)
    assert change_partition(before, (1,), rules(1, has_elr=False)) == PartitionChangeRecord(
        leader=1
    )
