"""A shard: records are appended and applied, answers wait until they are committed."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from ottla.coordinator.runtime.outcome import NOTHING, CoordinatorRecord, Outcome
from ottla.coordinator.runtime.replay import Replay
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.state_machine import Timers
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.heartbeat import HeartbeatResponse
from ottla.wire.records import Record, build_batch
from ottla.wire.schema import Message
from ottla.wire.stored.coordinator_records import GROUP_RECORDS, CoordinatorRecords
from ottla.wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from tests.support.coordinator.coordinator_log import MemoryLog
from tests.support.coordinator.group_shard import Answer

NAME = TopicPartition("__consumer_offsets", 0)
TIMEOUT_MS = 5_000


class Numbers:
    """A state machine: a number for each name."""

    record_types: ClassVar[CoordinatorRecords] = GROUP_RECORDS

    def __init__(self, timers: Timers) -> None:
        self.timers = timers
        self.by_name: dict[str, int] = {}
        self.is_loaded = self.is_unloaded = False
        self.ended: list[tuple[int, bool]] = []
        self.replayed = 0

    def replay(self, key: Message, value: Message | None, *, offset: int, producer_id: int) -> None:
        assert isinstance(key, OffsetCommitKey)
        self.replayed += 1
        if value is None:
            # In a log that is compacted a tombstone may be all that is left.
            self.by_name.pop(key.group, None)
        else:
            assert isinstance(value, OffsetCommitValue)
            self.by_name[key.group] = value.offset

    def replay_end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        self.ended.append((producer_id, is_committed))

    def loaded(self) -> None:
        self.is_loaded = True

    def unloaded(self) -> None:
        self.is_unloaded = True

    def put(self, name: str, number: int | None) -> Outcome:
        value = None if number is None else OffsetCommitValue(offset=number)
        record = CoordinatorRecord(OffsetCommitKey(group=name), value)
        return Outcome([record], HeartbeatResponse(throttle_time_ms=number or 0))

    def get(self, name: str) -> Outcome:
        return Outcome(response=HeartbeatResponse(throttle_time_ms=self.by_name[name]))


class World:
    def __init__(self) -> None:
        self.log = MemoryLog()
        self.clock = SimulatedClock()
        self.shard = self.make()
        self.shard.finish_loading()

    def make(self) -> Shard[Numbers]:
        return Shard(NAME, self.log, self.clock, Numbers, write_timeout_ms=TIMEOUT_MS)

    def submit(self, operation: Any, shard: Shard[Numbers] | None = None) -> Answer:
        answer = Answer()
        refuse: Any = lambda error: error  # noqa: E731
        (shard or self.shard).submit(operation, answer, refuse)
        return answer

    def reload(self) -> Shard[Numbers]:
        shard = self.make()
        replay = Replay(NAME, shard.machine, start_offset=0)
        for batch in self.log.batches:
            list(replay.apply(batch))
        list(replay.finish())
        shard.finish_loading()
        return shard


@pytest.fixture
def world() -> World:
    return World()


def test_what_is_committed_is_answered_at_once(world: World) -> None:
    assert world.submit(lambda state: state.put("a", 7)).value.throttle_time_ms == 7
    assert world.submit(lambda state: state.get("a")).value.throttle_time_ms == 7


def test_an_answer_waits_for_its_records(world: World) -> None:
    world.log.is_held = True
    answer = world.submit(lambda state: state.put("a", 7))
    assert not answer.is_there
    world.log.commit()
    assert answer.value.throttle_time_ms == 7


def test_response_from_uncommitted_state_waits_for_its_commit(world: World) -> None:
    world.log.is_held = True
    world.submit(lambda state: state.put("a", 7))
    seen = world.submit(lambda state: state.get("a"))
    assert not seen.is_there
    world.log.commit()
    assert seen.value.throttle_time_ms == 7


def test_refusal_because_of_uncommitted_state_waits_for_its_commit(
    world: World,
) -> None:
    def refuse(state: Numbers) -> Outcome:
        raise KafkaError(ErrorCode.FENCED_MEMBER_EPOCH, f"there is {state.by_name}")

    for ends, expected in (
        (world.log.commit, ErrorCode.FENCED_MEMBER_EPOCH),
        (lambda: world.log.fail(ErrorCode.NOT_LEADER_OR_FOLLOWER), ErrorCode.NOT_COORDINATOR),
    ):
        assert world.submit(refuse).error is ErrorCode.FENCED_MEMBER_EPOCH
        world.log.is_held = True
        world.submit(lambda state: state.put("a", 7))
        refused = world.submit(refuse)
        assert not refused.is_there
        ends()
        assert refused.error is expected


def test_state_is_replayed_by_the_next_coordinator(world: World) -> None:
    for number in range(3):
        world.submit(lambda state, number=number: state.put("a", number))
    world.submit(lambda state: state.put("b", 1))
    world.submit(lambda state: state.put("b", None))
    world.shard.close()
    shard = world.reload()
    assert shard.machine.by_name == {"a": 2}
    assert shard.machine.is_loaded


def test_of_what_was_written_again_and_again_only_the_last_is_replayed(world: World) -> None:
    for number in range(100):
        world.submit(lambda state, number=number: state.put(f"{number % 2}", number))
    machine = world.reload().machine
    assert (machine.by_name, machine.replayed) == ({"0": 98, "1": 99}, 2)


def test_records_that_cannot_be_read_are_left_out(world: World) -> None:
    key, value = GROUP_RECORDS.encode_key(OffsetCommitKey(group="a")), b"\x00\x04"
    now_ms = world.clock.now_ms()
    records = [
        Record(0, now_ms, b"\x7f\xff", b""),  # type: ignore[arg-type]
        Record(1, now_ms, key, value),  # type: ignore[arg-type]
    ]
    world.log.append(build_batch(records))
    world.submit(lambda state: state.put("b", 1))
    assert world.reload().machine.by_name == {"b": 1}


def test_while_it_loads_it_returns_a_retriable_error(world: World) -> None:
    answer = world.submit(lambda state: state.get("a"), world.make())
    assert answer.error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_waiting_requests_fail_when_leadership_is_lost(world: World) -> None:
    world.log.is_held = True
    answer = world.submit(lambda state: state.put("a", 7))
    world.shard.close()
    assert answer.error == ErrorCode.NOT_COORDINATOR
    assert world.shard.machine.is_unloaded
    assert world.submit(lambda state: state.get("a")).error == ErrorCode.NOT_COORDINATOR
    world.log.commit()


def test_a_write_that_takes_too_long_is_given_up(world: World) -> None:
    world.log.is_held = True
    answer = world.submit(lambda state: state.put("a", 7))
    world.clock.advance(TIMEOUT_MS / 1_000)
    assert answer.error == ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.log.commit()


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_clients_receive_errors_of_coordinators(
    world: World, refusal: ErrorCode, expected: ErrorCode
) -> None:
    world.log.refusal = refusal
    assert world.submit(lambda state: state.put("a", 7)).error == expected
    assert world.shard.machine.by_name == {}, "what was not appended is not applied"


def test_replicas_that_became_too_few_are_an_error(world: World) -> None:
    world.log.is_held = True
    answer = world.submit(lambda state: state.put("a", 7))
    world.log.fail(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert answer.error == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_an_operation_that_refuses_writes_nothing(world: World) -> None:
    def refuse(_state: Numbers) -> Outcome:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, "no")

    assert world.submit(refuse).error == ErrorCode.INVALID_GROUP_ID
    assert world.log.batches == []


def test_what_follows_a_commit_is_carried_out(world: World) -> None:
    results: list[ErrorCode] = []

    def first(state: Numbers) -> Outcome:
        def then(error: ErrorCode) -> Outcome:
            results.append(error)
            return state.put("b", 2) if len(results) == 1 else NOTHING

        return Outcome(state.put("a", 1).records, on_committed=then)

    world.log.is_held = True
    world.shard.perform(first)
    assert results == []
    world.log.commit()
    assert results == [ErrorCode.NONE]
    assert world.shard.machine.by_name == {"a": 1, "b": 2}


def test_what_comes_afterwards_lets_the_answer_go_first(world: World) -> None:
    results: list[ErrorCode] = []

    def first(state: Numbers) -> Outcome:
        def then(error: ErrorCode) -> Outcome:
            results.append(error)
            return state.put("b", 2)

        records, response, *_ = state.put("a", 1)
        return Outcome(records, response, afterwards=then)

    assert world.submit(first).value.throttle_time_ms == 1
    assert (results, world.shard.machine.by_name) == ([], {"a": 1})
    world.clock.advance(0)
    assert (results, world.shard.machine.by_name) == ([ErrorCode.NONE], {"a": 1, "b": 2})


def test_follow_up_receives_the_error_of_records_that_were_refused(world: World) -> None:
    results: list[ErrorCode] = []

    def first(state: Numbers) -> Outcome:
        def then(error: ErrorCode) -> Outcome:
            results.append(error)
            return NOTHING

        return Outcome(state.put("a", 1).records, afterwards=then)

    world.log.refusal = ErrorCode.NOT_ENOUGH_REPLICAS
    world.shard.perform(first)
    assert results == [ErrorCode.COORDINATOR_NOT_AVAILABLE]


def test_follow_up_receives_the_error_of_records_that_were_not_committed(world: World) -> None:
    results: list[ErrorCode] = []

    def first(state: Numbers) -> Outcome:
        def then(error: ErrorCode) -> Outcome:
            results.append(error)
            return NOTHING

        records, response, *_ = state.put("a", 1)
        return Outcome(records, response, afterwards=then)

    world.log.is_held = True
    answer = world.submit(first)
    world.log.fail(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert (answer.error, results) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, [])
    world.clock.advance(0)
    assert results == [ErrorCode.COORDINATOR_NOT_AVAILABLE]


def test_nothing_comes_afterwards_when_leadership_is_lost(world: World) -> None:
    def first(state: Numbers) -> Outcome:
        return Outcome(state.put("a", 1).records, afterwards=lambda _error: state.put("b", 2))

    world.shard.perform(first)
    world.shard.close()
    world.clock.advance(0)
    assert world.shard.machine.by_name == {"a": 1}


def test_who_postpones_an_operation_is_not_refused(world: World) -> None:
    def fail(_state: Numbers) -> Outcome:
        raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS, "not yet")

    answer = Answer()
    refuse: Any = lambda error: error  # noqa: E731
    world.shard.submit(fail, answer, refuse, postpone=lambda _error: True)
    assert not answer.is_there
    world.shard.submit(fail, answer, refuse, postpone=lambda _error: False)
    assert answer.error == ErrorCode.CONCURRENT_TRANSACTIONS


def test_timers_can_be_put_off_replaced_and_cancelled(world: World) -> None:
    timers, rung = world.shard.machine.timers, []

    def ring(name: str) -> Outcome:
        rung.append((name, world.clock.monotonic()))
        return NOTHING

    timers.schedule("a", delay_ms=1_000, operation=lambda: ring("a"))
    timers.schedule("b", delay_ms=1_000, operation=lambda: ring("b"))
    timers.schedule("c", delay_ms=5_000, operation=lambda: ring("c"))
    timers.schedule_if_absent("c", delay_ms=1, operation=lambda: ring("never"))
    world.clock.advance(0.5)
    timers.schedule("a", delay_ms=1_000, operation=lambda: ring("a later"))
    timers.schedule("c", delay_ms=1_500, operation=lambda: ring("c earlier"))
    timers.cancel("b")
    world.clock.advance(10)
    assert rung == [("a later", 1.5), ("c earlier", 2.0)]


def test_no_timer_rings_after_leadership_is_lost(world: World) -> None:
    world.shard.machine.timers.schedule(
        "a", delay_ms=10, operation=lambda: world.shard.machine.put("a", 1)
    )
    world.shard.close()
    world.clock.advance(1)
    assert world.log.batches == []
