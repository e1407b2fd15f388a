"""Elections: who leads when in-sync replicas come and go (KIP-966)."""

import pytest

from ottla.controller.operations import partition_change
from ottla.controller.operations.partition_change import ElectionRule, Rules
from ottla.metadata import NO_LEADER, PartitionRegistration
from ottla.metadata.partition import RECOVERING
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord
from tests.support.controller.cluster_images import uuid


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
    *alive: int,
    min_isr: int = 2,
    has_elr: bool = True,
    election: ElectionRule = ElectionRule.ONLINE,
) -> Rules:
    return Rules(
        can_lead=lambda replica: replica in alive,
        min_insync_replicas=min_isr,
        has_eligible_leader_replicas=has_elr,
        election=election,
    )


def change_partition(
    before: PartitionRegistration,
    isr: tuple[int, ...],
    rules: Rules,
    *,
    unclean: int | None = None,
) -> PartitionChangeRecord | None:
    target = before._replace(isr=isr)
    return partition_change.change_partition(before, target, rules, unclean=unclean)


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


def test_eligible_replica_leads_when_the_isr_is_empty() -> None:
    before = partition(isr=(), leader=NO_LEADER, elr=(1, 2), last_known=(1,))
    record = change_partition(before, (), rules(2))
    assert record == PartitionChangeRecord(
        isr=[2], leader=2, eligible_leader_replicas=[1], last_known_elr=[]
    )


def test_replica_that_lost_records_is_not_eligible() -> None:
    record = change_partition(partition(isr=(1,), elr=(2,)), (), rules(), unclean=1)
    assert record == PartitionChangeRecord(isr=[], leader=NO_LEADER, last_known_elr=[1])


def test_last_known_leader_leads_when_no_replica_is_eligible_and_may_lack_records() -> None:
    before = partition(isr=(), leader=NO_LEADER, last_known=(1,))
    assert change_partition(before, (), rules(2, 3)) is None
    record = change_partition(before, (), rules(1, 2, 3))
    assert record == PartitionChangeRecord(
        isr=[1], leader=1, leader_recovery_state=RECOVERING, last_known_elr=[]
    )


def test_unclean_election_takes_any_live_replica_only_where_it_is_allowed() -> None:
    before = partition(isr=(1,), elr=(2,))
    refused = change_partition(before, (), rules(3))
    assert refused is not None
    assert refused.leader == NO_LEADER
    record = change_partition(before, (), rules(3, election=ElectionRule.UNCLEAN))
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


def moving() -> PartitionRegistration:
    """On its way from 1, 2, 3 to 4, 2, 3."""
    return PartitionRegistration(
        replicas=(4, 2, 3, 1),
        isr=(1, 2, 3),
        leader=1,
        leader_epoch=5,
        partition_epoch=5,
        directories=(uuid(4), uuid(2), uuid(3), uuid(1)),
        removing_replicas=(1,),
        adding_replicas=(4,),
    )


def test_preferred_replica_leads_before_the_present_leader_only_if_requested() -> None:
    before = partition(leader=2)
    assert change_partition(before, (1, 2, 3), rules(1, 2, 3)) is None
    preferred = rules(1, 2, 3, election=ElectionRule.PREFERRED)
    assert change_partition(before, (1, 2, 3), preferred) == PartitionChangeRecord(leader=1)
    preferred = rules(2, 3, election=ElectionRule.PREFERRED)
    assert change_partition(before, (1, 2, 3), preferred) is None


def test_preferred_election_takes_any_leader_before_none() -> None:
    before = partition(leader=NO_LEADER, isr=(2, 3))
    record = change_partition(before, (2, 3), rules(3, election=ElectionRule.PREFERRED))
    assert record == PartitionChangeRecord(leader=3)


def test_preferred_election_is_never_unclean() -> None:
    before = partition(isr=(), leader=NO_LEADER, elr=(2,))
    assert change_partition(before, (), rules(1, 3, election=ElectionRule.PREFERRED)) is None


def test_unclean_election_prefers_who_has_everything() -> None:
    before = partition(isr=(), leader=NO_LEADER, elr=(3,), last_known=(1,))
    record = change_partition(before, (), rules(1, 2, 3, election=ElectionRule.UNCLEAN))
    assert record == PartitionChangeRecord(
        isr=[3], leader=3, eligible_leader_replicas=[], last_known_elr=[]
    )


def test_last_known_leader_waits_while_a_replica_is_eligible() -> None:
    before = partition(isr=(), leader=NO_LEADER, elr=(2,), last_known=(1,))
    assert change_partition(before, (), rules(1, 3)) is None


def test_last_known_leader_stays_known_without_a_leader() -> None:
    before = partition(isr=(), leader=NO_LEADER, elr=(1, 2), last_known=(1,))
    assert change_partition(before, (), rules(3)) is None
    record = change_partition(before, (), rules(3), unclean=2)
    assert record == PartitionChangeRecord(eligible_leader_replicas=[1])


def test_several_last_known_replicas_are_no_last_leader() -> None:
    before = partition(isr=(), leader=NO_LEADER, last_known=(1, 2))
    assert change_partition(before, (), rules(1, 2, 3)) is None


def test_replica_that_lost_records_keeps_nothing_but_its_name_as_last_leader() -> None:
    before = partition(isr=(), leader=NO_LEADER, elr=(1, 2), last_known=(1,))
    after = change_partition(before, (), rules(), unclean=1)
    assert after == PartitionChangeRecord(eligible_leader_replicas=[2])


def test_recovering_leader_is_followed_by_one_that_goes_on_recovering() -> None:
    before = partition(isr=(1,), elr=(2,))._replace(leader_recovery_state=RECOVERING)
    record = change_partition(before, (), rules(2))
    assert record == PartitionChangeRecord(isr=[2], leader=2, eligible_leader_replicas=[1])


def test_minimum_is_never_more_than_there_are_replicas() -> None:
    before = partition()._replace(replicas=(1,), isr=(1,), directories=(uuid(1),))
    record = change_partition(before, (), rules(min_isr=3))
    assert record is not None
    assert record.eligible_leader_replicas == [1]
    assert change_partition(before, (1,), rules(1, min_isr=3)) is None


def test_reassignment_ends_when_all_that_stay_are_in_sync() -> None:
    before = moving()
    assert change_partition(before, (1, 2, 3), rules(1, 2, 3, 4)) is None
    record = change_partition(before, (1, 2, 3, 4), rules(1, 2, 3, 4))
    assert record == PartitionChangeRecord(
        isr=[2, 3, 4],
        leader=4,
        replicas=[4, 2, 3],
        directories=[uuid(4), uuid(2), uuid(3)],
        removing_replicas=[],
        adding_replicas=[],
    )


def test_reassignment_begins_a_new_epoch_even_if_the_leader_stays() -> None:
    record = change_partition(moving(), (2, 3, 4), rules(2, 3, 4))
    assert record is not None
    assert record.leader == 4
    stays = moving()._replace(leader=2)
    record = change_partition(stays, (1, 2, 3, 4), rules(1, 2, 3, 4))
    assert record is not None
    assert (record.leader, record.replicas) == (2, [4, 2, 3])


def test_replica_that_was_moved_away_is_not_eligible() -> None:
    before = moving()._replace(replicas=(4, 1), isr=(1,), directories=(uuid(4), uuid(1)))
    record = change_partition(before, (1, 4), rules(1, 4, min_isr=2))
    assert record is not None
    assert (record.replicas, record.isr, record.leader) == ([4], [4], 4)
    assert record.eligible_leader_replicas is None


def test_reassignment_does_not_end_with_an_empty_isr() -> None:
    before = moving()._replace(
        replicas=(1, 2), isr=(1,), directories=(uuid(1), uuid(2)), adding_replicas=()
    )
    assert change_partition(before, (1,), rules(1, 2, min_isr=1)) is None
