"""Groups of thousands: a request costs what it changes, and an assignment never holds the loop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ottla.assignors import ASSIGNORS
from ottla.coordinator.groups.consumer import assigning
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.runtime.outcome import Outcome
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from tests.support.coordinator.consumer_members import Member, add_topic, all_of
from tests.support.coordinator.group_shard import GROUP, GroupShard

# Too large to be assigned at once.
LARGE = 510


def shard_of(partitions: int = 10, **configs: str) -> GroupShard:
    image = MetadataImage()
    add_topic(image, "t", partitions)
    return GroupShard(image=image, configs=configs)


def joined(shard: GroupShard, count: int, **joining: Any) -> list[Member]:
    return [Member(shard, f"m{number:04}", **joining).join() for number in range(count)]


def group_of(shard: GroupShard) -> ConsumerGroup:
    group = shard.machine.groups.require(GROUP)
    assert isinstance(group, ConsumerGroup)
    return group


class Watched(dict[str, Any]):
    """Notes that all of it was looked at."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        self.looks += 1
        return super().__iter__()

    def keys(self) -> Any:
        self.looks += 1
        return super().keys()

    def values(self) -> Any:
        self.looks += 1
        return super().values()

    def items(self) -> Any:
        self.looks += 1
        return super().items()


def calls_of(operation: Callable[[], object]) -> int:
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return count


def test_a_request_of_one_member_looks_at_no_other() -> None:
    calls = []
    for size in (LARGE, 2 * LARGE):
        shard = shard_of()
        members = joined(shard, size)
        group = group_of(shard)
        watched = group.members, group.targets = Watched(group.members), Watched(group.targets)
        new = Member(shard, "new")
        operations = (new.join, new.beat, members[-1].beat, members[-1].leave)
        calls.append([calls_of(operation) for operation in operations])
        assert [each.looks for each in watched] == [0, 0]
    few, many = calls
    assert all(abs(one - other) < 20 for one, other in zip(few, many, strict=True)), calls


def test_a_large_group_is_assigned_once_in_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    original = ASSIGNORS["uniform"]

    def assign(members: Any, partition_counts: Any) -> Any:
        begun.append(len(members))
        return original(members, partition_counts)

    monkeypatch.setitem(ASSIGNORS, "uniform", assign)
    shard = shard_of(LARGE)
    joined(shard, LARGE)
    at_once = len(begun)
    shard.clock.advance(1)
    assert begun[at_once:] == [LARGE]
    assert at_once < LARGE
    # Nothing has changed since.
    shard.clock.advance(10)
    assert len(begun) == at_once + 1


def test_a_large_group_becomes_stable_with_its_partitions_spread() -> None:
    shard = shard_of(LARGE)
    members = joined(shard, LARGE)
    assert all(member.epoch > 0 for member in members)
    for _ in range(4):
        shard.clock.advance(1)
        for member in members:
            member.beat()
    assert shard.state == "Stable"
    assert sorted(each for member in members for each in member.owned) == all_of("t", LARGE)
    assert {len(member.owned) for member in members} == {1}


def test_an_assignment_holds_the_loop_for_a_step_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds, works = list[float](), list[int]()
    original = assigning._go_on

    def counted(job: Any) -> Any:
        outcome = None
        while outcome is None:
            try:
                work = next(job)
            except StopIteration as finished:
                return finished.value
            works.append(work)
            yield work

    def go_on(context: Any, group: Any, job: Any) -> Outcome:
        started = time.process_time()
        outcome = original(
            context, group, counted(job) if job.gi_code.co_name != "counted" else job
        )
        seconds.append(time.process_time() - started)
        return outcome

    monkeypatch.setattr(assigning, "_go_on", go_on)
    shard = shard_of(3_000)
    joined(shard, 3_000)
    seconds.clear()
    works.clear()
    shard.clock.advance(2)
    assert len(seconds) > 20
    assert max(works) <= 3 * assigning.STEP_WORK
    assert sorted(seconds)[len(seconds) // 2] < 0.05, "about a millisecond"


def test_members_send_heartbeats_at_a_rate_that_the_node_can_serve() -> None:
    shard = shard_of()
    members = joined(shard, LARGE)
    answers = [member.send_heartbeat().value.heartbeat_interval_ms for member in members[:3]]
    assert answers == [LARGE] * 3


def test_while_an_assignment_is_computed_members_keep_what_they_have() -> None:
    shard = shard_of(LARGE)
    members = joined(shard, LARGE)
    for _ in range(3):
        owned = [set(member.owned) for member in members]
        for member in members:
            member.beat()
    assert [member.owned for member in members] == owned
    assert shard.state == "Assigning"


@pytest.fixture
def paused() -> tuple[GroupShard, list[Member]]:
    """A group whose assignment has begun, and is not written yet: time stands still."""
    shard = shard_of(LARGE)
    members = [
        Member(shard, f"m{number:04}", instance_id=f"i{number}").join() for number in range(LARGE)
    ]
    shard.clock.advance(0.995)
    for member in members:
        member.beat()
    assert ("assignment", GROUP) in shard.shard._timers
    group = group_of(shard)
    job = assigning._assigning(shard.machine._context, group)
    shard.shard._timers.cancel(("assignment", GROUP))
    for _ in range(int(1.5 * LARGE)):
        next(job)
    resume = assigning._go_on
    shard.machine._context.timers.schedule(
        ("assignment", GROUP),
        delay_ms=100,
        operation=lambda: resume(shard.machine._context, group, job),
    )
    return shard, members


def settle(shard: GroupShard, members: list[Member]) -> None:
    for _ in range(6):
        shard.clock.advance(1.2)
        for member in members:
            member.beat()


def assert_spread(members: list[Member]) -> None:
    owned = sorted(each for member in members for each in member.owned)
    assert owned == all_of("t", LARGE)


def test_a_member_that_leaves_meanwhile_leaves_nothing_behind(
    paused: tuple[GroupShard, list[Member]],
) -> None:
    shard, members = paused
    gone = members.pop()
    assert gone.leave().error == ErrorCode.NONE
    settle(shard, members)
    assert_spread(members)
    assert gone.id not in group_of(shard).targets
    assert gone.id not in group_of(shard.failover()).targets


@pytest.mark.parametrize("number", [0, LARGE // 2, LARGE - 1])
def test_an_instance_that_comes_back_meanwhile_gets_what_it_was_to_have(
    paused: tuple[GroupShard, list[Member]], number: int
) -> None:
    shard, members = paused
    members[number].leave(-2)
    members[number] = Member(shard, "again", instance_id=f"i{number}").join()
    settle(shard, members)
    assert_spread(members)
    targets = [each for mine in group_of(shard).targets.values() for each in mine]
    assert len(targets) == len(set(targets)) == LARGE


def test_a_group_that_is_gone_meanwhile_is_not_written(
    paused: tuple[GroupShard, list[Member]],
) -> None:
    shard, members = paused
    for member in members:
        member.leave()
    shard.submit(lambda groups: groups.delete_group(GROUP))
    batches = len(shard.log.batches)
    shard.clock.advance(5)
    assert len(shard.log.batches) == batches
    assert shard.machine.groups.get(GROUP) is None


def test_a_group_that_is_made_again_meanwhile_is_assigned(
    paused: tuple[GroupShard, list[Member]],
) -> None:
    shard, members = paused
    for member in members:
        member.leave()
    shard.submit(lambda groups: groups.delete_group(GROUP))
    members = joined(shard, LARGE)
    assert group_of(shard).is_assigning
    settle(shard, members)
    assert_spread(members)
    assert shard.state == "Stable"


def test_a_target_that_could_not_be_written_is_computed_again() -> None:
    shard = shard_of(LARGE)
    members = joined(shard, LARGE)
    shard.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    shard.clock.advance(2)
    group = group_of(shard)
    assert group.target_epoch < group.epoch
    shard.log.refusal = None
    settle(shard, members)
    assert_spread(members)


def test_the_next_coordinator_reads_the_target_that_was_written() -> None:
    shard = shard_of(LARGE)
    joined(shard, LARGE)
    shard.clock.advance(2)
    group = group_of(shard)
    after = group_of(shard.failover())
    assert (after.targets, after.target_epoch) == (group.targets, group.target_epoch)
    assert after.target_timestamp == group.target_timestamp
    assert after.counts.stable == group.counts.stable


def test_the_next_coordinator_assigns_what_was_not_assigned() -> None:
    shard = shard_of(LARGE)
    members = joined(shard, LARGE)
    shard = shard.failover()
    for member in members:
        member.shard = shard
        member.beat()
    settle(shard, members)
    assert_spread(members)
