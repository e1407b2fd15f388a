"""A fetcher asks for what changed, applies what comes, and leaves alone what fails."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.model import ErrorCode, LeaderEpoch, NodeId, TopicPartition
from ottla.replication.partition import Partition
from ottla.simulation import SimulatedDisk
from ottla.wire.messages.fetch import EpochEndOffset
from tests.support.replication.fetching_follower import Follower, data, end, run_follower
from tests.support.replication.replicas import TOPIC_ID, registered
from tests.support.storage.logs import fetched, new_log


def test_requests_name_what_changed_only() -> None:
    async def scenario(here: Follower) -> None:
        partitions = [here.follow(index) for index in range(3)]
        await here.settle()
        leader = here.leaders[1]
        assert leader.requested == {0: 0, 1: 0, 2: 0}
        state = leader.requests[0].replica_state
        assert state is not None
        assert (state.replica_id, state.replica_epoch) == (2, 20)
        leader.answer(data(1, records=fetched(1, 1), high_watermark=1), data(2, high_watermark=0))
        await here.settle()
        assert leader.requested == {1: 2}
        assert partitions[1].require_log().high_watermark == 1
        leader.answer(data(1, high_watermark=2))
        await here.settle()
        assert leader.requested == {}
        assert partitions[1].require_log().high_watermark == 2
        leader.answer()
        await here.settle()
        assert len(leader.requests) == 4

    run_follower(scenario)


def test_partitions_come_and_go_while_a_request_is_under_way() -> None:
    async def scenario(here: Follower) -> None:
        first = here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        here.follow(1)
        here.fetchers.unfollow(first)
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert end(first) == 0
        assert (leader.requested, leader.forgotten) == ({1: 0}, [0])
        assert len(here.fetchers) == 1

    run_follower(scenario)


def test_partitions_are_fetched_from_their_leader() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        partition.become_follower(registered(leader=3, leader_epoch=1, partition_epoch=1))
        here.fetchers.follow(partition)
        await here.settle()
        assert here.leaders[3].requested == {0: 0}
        here.leaders[3].answer(data(0, records=fetched(1, epoch=1)))
        await here.settle()
        assert end(partition) == 1
        assert partition.require_log().epochs.latest_epoch == 1
        assert len(here.leaders[1].requests) == 1, "there is nothing to ask for"

    run_follower(scenario)


def test_a_request_to_a_leader_that_was_lost_does_not_hold_up_its_return() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        lost = here.leaders[1]
        partition.become_follower(registered(leader=3, leader_epoch=1, partition_epoch=1))
        here.fetchers.follow(partition)
        assert lost.is_closed, "nothing is left to ask it for"
        partition.become_follower(registered(leader=1, leader_epoch=2, partition_epoch=2))
        here.fetchers.follow(partition)
        await here.settle()
        assert here.leaders[1] is not lost
        assert here.leaders[1].requested == {0: 0}

    run_follower(scenario)


def test_an_answer_to_an_earlier_epoch_is_ignored() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        partition.become_follower(registered(leader_epoch=1, partition_epoch=1))
        here.fetchers.follow(partition)
        leader = here.leaders[1]
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert end(partition) == 0
        (topic,) = leader.requests[-1].topics
        assert topic.partitions[0].current_leader_epoch == 1

    run_follower(scenario)


def test_a_partition_without_a_leader_is_left_alone() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        partition.become_follower(registered(leader=-1, leader_epoch=1, partition_epoch=1))
        here.fetchers.follow(partition)
        await here.settle()
        assert len(here.fetchers) == 0
        assert here.leaders[1].requests == []

    run_follower(scenario)


def test_an_error_rests_the_partition_and_no_other() -> None:
    async def scenario(here: Follower) -> None:
        here.follow(0)
        here.follow(1)
        await here.settle()
        leader = here.leaders[1]
        leader.answer(data(0, error_code=ErrorCode.UNKNOWN_LEADER_EPOCH))
        await here.settle()
        assert (leader.requested, leader.forgotten) == ({}, [0])
        assert leader.requests[-1].max_wait_ms <= 21, "no partition waits longer than its own delay"
        await here.settle(0.02)
        leader.answer()
        await here.settle()
        assert leader.requested == {0: 0}
        assert leader.requests[-1].max_wait_ms == 500

    run_follower(scenario)


def test_leader_that_refuses_this_node_is_logged_with_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(here: Follower) -> None:
        here.follow(0)
        await here.settle()
        here.leaders[1].answer(data(0, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        await here.settle()

    run_follower(scenario)
    assert "super.users" in caplog.text


def test_errors_that_go_on_are_met_less_and_less_often() -> None:
    async def scenario(here: Follower) -> None:
        here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        rests = []
        for _ in range(9):
            leader.answer(data(0, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER))
            await here.settle()
            deadline = here.clock.next_deadline()
            assert deadline is not None
            rests.append(round((deadline - here.clock.monotonic()) * 1_000))
            await here.settle(deadline - here.clock.monotonic())
            assert leader.requested == {0: 0}
        assert rests == [20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]
        leader.answer(data(0, high_watermark=0))
        await here.settle()
        leader.answer(data(0, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER))
        await here.settle(0.02)
        assert leader.requested == {0: 0}, "it went well in between"

    run_follower(scenario)


def test_a_fenced_partition_waits_for_its_new_epoch() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        leader.answer(data(0, error_code=ErrorCode.FENCED_LEADER_EPOCH))
        await here.settle(60.0)
        assert len(leader.requests) == 1
        partition.become_follower(registered(leader_epoch=1, partition_epoch=1))
        here.fetchers.follow(partition)
        await here.settle()
        assert leader.requested == {0: 0}

    run_follower(scenario)


def test_a_lost_connection_begins_a_new_session_with_everything() -> None:
    async def scenario(here: Follower) -> None:
        here.follow(0)
        here.follow(1)
        await here.settle()
        leader = here.leaders[1]
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        leader.fail()
        await here.settle(0.02)
        request = leader.requests[-1]
        assert (request.session_id, request.session_epoch) == (7, 0)
        assert leader.requested == {0: 1, 1: 0}

    run_follower(scenario)


def test_unexpected_exceptions_do_not_end_fetching(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_more: object) -> None:
        monkeypatch.undo()
        raise RuntimeError("an unexpected error")

    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        monkeypatch.setattr("ottla.replication.fetcher.apply_fetched", fail)
        leader.answer(data(0, records=fetched(1)))
        await here.settle(2.0)
        assert leader.requested == {0: 0}
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert end(partition) == 1

    run_follower(scenario)


def test_a_session_that_the_leader_lost_begins_anew() -> None:
    async def scenario(here: Follower) -> None:
        here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        leader.answer()
        await here.settle()
        leader.answer(error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        await here.settle()
        assert leader.requested == {0: 0}

    run_follower(scenario)


def test_a_diverging_log_is_truncated_and_fetched_again() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        leader.answer(data(0, records=fetched(1, 1, 1)))
        await here.settle()
        leader.answer(data(0, diverging_epoch=EpochEndOffset(epoch=0, end_offset=1)))
        await here.settle()
        assert end(partition) == 1
        assert leader.requested == {0: 1}

    run_follower(scenario)


def test_out_of_range_begins_again_where_the_leader_does() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        leader.offsets = (40, 50)
        leader.answer(data(0, error_code=ErrorCode.OFFSET_OUT_OF_RANGE))
        await here.settle(0.02)
        assert leader.requested == {0: 40}
        assert partition.require_log().log_start_offset == 40
        assert [each.replica_id for each in leader.listed] == [2, 2]

    run_follower(scenario)


def test_damaged_records_are_fetched_again() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        damaged = fetched(1)
        damaged[-1] ^= 1
        leader.answer(data(0, records=damaged))
        await here.settle(0.02)
        assert leader.requested == {0: 0}
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert end(partition) == 1

    run_follower(scenario)


def test_bytes_without_a_complete_batch_are_fetched_again() -> None:
    """The leader read another place of its file, so a length is wrong, or an epoch."""
    from_elsewhere = fetched(1)
    from_elsewhere[8:12] = (1 << 20).to_bytes(4)

    async def scenario(here: Follower) -> None:
        partition = here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        for unusable in (from_elsewhere, fetched(1, epoch=9)):
            leader.answer(data(0, records=unusable))
            await here.settle(0.05)
            assert leader.requested == {0: 0}
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert end(partition) == 1

    run_follower(scenario)


def test_a_failing_disk_stops_its_partition_and_is_reported() -> None:
    async def scenario(here: Follower) -> None:
        disk = SimulatedDisk()
        partition = here.follow(0, disk=disk)
        await here.settle()
        disk.kill()
        leader = here.leaders[1]
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert here.failed == [partition]
        assert len(leader.requests) == 1

    run_follower(scenario)


def test_a_partition_that_keeps_its_log_after_an_error_is_fetched_again() -> None:
    async def scenario(here: Follower) -> None:
        disk = SimulatedDisk()
        partition = here.follow(0, disk=disk)
        await here.settle()
        disk.limit_space(0)
        leader = here.leaders[1]
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert here.failed == [partition]
        disk.limit_space(None)
        await here.settle(seconds=0.1)
        leader.answer(data(0, records=fetched(1)))
        await here.settle()
        assert end(partition) == 1

    run_follower(scenario)


def test_records_are_durable_before_they_are_acknowledged_to_the_leader() -> None:
    async def scenario(here: Follower) -> None:
        partition = here.follow(0, flush_messages=1)
        await here.settle()
        leader = here.leaders[1]
        leader.answer(data(0, records=fetched(1, 1)))
        await here.settle()
        assert leader.requested == {0: 2}
        assert partition.require_log().recovery_point == 2

    run_follower(scenario)


class Throttle:
    def __init__(self) -> None:
        self.is_full = False
        self.recorded = 0

    def is_exceeded(self, partition: Partition) -> bool:
        return self.is_full

    def record(self, partition: Partition, size: int) -> None:
        self.recorded += size


def test_a_throttled_partition_rests_while_it_is_behind() -> None:
    throttle = Throttle()

    async def scenario(here: Follower) -> None:
        here.follow(0)
        await here.settle()
        leader = here.leaders[1]
        throttle.is_full = True
        leader.answer(data(0, records=fetched(1), high_watermark=9))
        await here.settle()
        assert throttle.recorded == len(fetched(1))
        assert len(leader.requests) == 1
        throttle.is_full = False
        await here.settle(0.1)
        assert leader.requested == {0: 1}
        throttle.is_full = True
        leader.answer(data(0, records=fetched(1, start=1), high_watermark=2))
        await here.settle()
        assert leader.requested == {0: 2}, "it is in sync and must stay so"

    run_follower(scenario, throttle=throttle)


@pytest.mark.parametrize("count", [2_000])
def test_an_idle_round_does_not_depend_on_how_many_partitions_there_are(count: int) -> None:
    async def scenario(here: Follower) -> None:
        log, looked = new_log(), list[int]()

        class Watched(Partition):
            """Notices every look at its log; the slot of the base is still where it is kept."""

            __slots__ = ()

            def require_log(self) -> Any:
                looked.append(self.name.partition)
                return super().require_log()

        for index in range(count):
            partition = Watched(
                TopicPartition("t", index), TOPIC_ID, leader=NodeId(1), leader_epoch=LeaderEpoch(0)
            )
            partition.log = log
            partition.become_follower(registered())
            here.fetchers.follow(partition)
        await here.settle()
        leader = here.leaders[1]
        assert len(leader.requested) == count
        looked.clear()
        for _ in range(5):
            leader.answer()
            await here.settle()
            assert leader.requested == {}
        assert not looked

    run_follower(scenario)
