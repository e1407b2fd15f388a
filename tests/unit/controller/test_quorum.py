"""Replicas that agree: who is active, what is shown, what becomes of what is not committed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ottla.controller.controller import Controller
from ottla.controller.metadata_log import METADATA_PARTITION, MetadataLogConfig
from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.quorum import MetadataQuorum
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.raft import CommittedRecordsLostError, Raft
from ottla.simulation.disk.disk_faults import Operation
from ottla.storage.errors import CorruptSnapshotError
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.wire.messages.vote import VoteRequest
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from tests.support.controller.metadata_deltas import assert_leads
from tests.support.controller.simulated_controllers import DIRECTORY, create, serve_broker
from tests.support.raft.quorums import Replica, SimulatedQuorum

PATH = f"{DIRECTORY}/{METADATA_PARTITION}"
SOON = MetadataLogConfig(max_record_bytes_between_snapshots=1000)


def play(
    scene: Callable[[SimulatedQuorum], Coroutine[Any, Any, None]],
    *node_ids: int,
    **options: Any,
) -> None:
    """Three replicas that have started, or others, and a scene with them."""

    async def played() -> None:
        world = SimulatedQuorum(*(node_ids or (1, 2, 3)), **options)
        world.start()
        await scene(world)
        errors = [error for replica in world.replicas.values() for error in replica.errors]
        assert not errors, errors
        await world.end()

    asyncio.run(played())


async def lead(world: SimulatedQuorum) -> Replica:
    """The active one, with a broker that topics can be on."""
    leader = await world.wait_active()
    await world.do(serve_broker(leader.controller))
    await world.wait_caught_up()
    return leader


def others(world: SimulatedQuorum, leader: Replica) -> list[Replica]:
    return [replica for replica in world.replicas.values() if replica is not leader]


def code(error: BaseException) -> ErrorCode:
    assert isinstance(error, KafkaError)
    return error.code


async def outcome(world: SimulatedQuorum, doing: asyncio.Future[Any]) -> Any:
    """The result, or the exception in its place."""
    return (await world.do(asyncio.gather(doing, return_exceptions=True)))[0]


# ---- leading and following


def test_one_of_three_becomes_active_and_the_others_follow_its_metadata() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        assert world.active == [leader]
        await world.do(create(leader.controller, "a"))
        await world.wait_caught_up()
        for replica in world.replicas.values():
            assert replica.topics == {"a"}
            assert replica.image == leader.image
            assert replica.quorum.leader_and_epoch == leader.quorum.leader_and_epoch

    play(scene)


def test_controller_is_active_only_after_its_own_epoch_has_committed_a_record() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        await world.until(lambda: any(each.quorum.is_leader for each in world.replicas.values()))
        (leader,) = [each for each in world.replicas.values() if each.quorum.is_leader]
        world.isolate(leader.id)
        await world.pass_time(1.0)
        assert leader.quorum.is_leader
        assert not leader.is_active
        assert leader.quorum.log.flushed_end_offset == leader.quorum.log.log_end_offset
        with pytest.raises(KafkaError) as refused:
            await create(leader.controller, "a")
        assert refused.value.code is ErrorCode.NOT_CONTROLLER
        world.heal()
        await world.wait_active()

    play(scene)


def test_listeners_are_notified_of_the_leader_and_of_its_being_active() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        notified: list[tuple[bool, bool]] = []
        for replica in world.replicas.values():
            quorum = replica.quorum
            quorum.listen_leader(lambda q=quorum: notified.append((q.is_leader, q.is_active)))  # type: ignore[misc]
        await world.wait_caught_up()
        assert (True, False) in notified
        assert notified.index((True, False)) < notified.index((True, True))
        assert notified.count((True, True)) == 1
        assert notified.count((False, False)) >= 2

    play(scene)


def test_records_without_a_majority_are_shown_by_no_replica() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        world.isolate(leader.id)
        creation = asyncio.ensure_future(create(leader.controller, "a"))
        await world.pass_time(1.0)
        assert leader.is_active
        assert not creation.done()
        assert leader.quorum.log.flushed_end_offset > leader.quorum.metadata.end_offset
        assert not leader.topics
        # The next operation is judged by it all the same.
        assert set(leader.controller.proposed_image.topics.by_name) == {"a"}
        world.heal()
        await world.do(creation)
        assert leader.topics == {"a"}

    play(scene)


def test_deposed_controller_fails_pending_requests_and_forgets_what_it_wrote() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        deposed = await lead(world)
        world.isolate(deposed.id)
        creation = asyncio.ensure_future(create(deposed.controller, "lost"))
        error = await outcome(world, creation)
        assert code(error) is ErrorCode.NOT_CONTROLLER
        assert not deposed.is_active
        await world.until(lambda: [each for each in world.active if each is not deposed])
        (leader,) = world.active
        await world.do(create(leader.controller, "kept"))
        world.heal()
        await world.wait_caught_up()
        for replica in world.replicas.values():
            assert replica.topics == {"kept"}
            assert replica.quorum.metadata.replay_appended().image == replica.image

    play(scene)


def test_what_a_deposed_controller_wrote_vanishes_from_its_follower() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        deposed = await lead(world)
        follower, *majority = others(world, deposed)
        for replica in majority:
            world.cuts |= {frozenset((replica.id, each.id)) for each in (deposed, follower)}
        creation = asyncio.ensure_future(create(deposed.controller, "lost"))
        await world.until(
            lambda: follower.quorum.log.flushed_end_offset == deposed.quorum.log.log_end_offset
        )
        appended = follower.quorum.metadata.replay_appended().image
        assert set(appended.topics.by_name) == {"lost"}
        assert not follower.topics
        await world.until(lambda: any(each.is_active for each in majority))
        (leader,) = [each for each in majority if each.is_active]
        await world.do(create(leader.controller, "kept"))
        world.heal()
        assert code(await outcome(world, creation)) is ErrorCode.NOT_CONTROLLER
        await world.wait_caught_up()
        for replica in world.replicas.values():
            assert replica.quorum.metadata.replay_appended().image == leader.image
            assert replica.topics == {"kept"}

    play(scene, 1, 2, 3, 4, 5)


def large_operation(
    _image: MetadataImage, _request: DeleteTopicsRequest, _context: Context
) -> OperationOutcome[DeleteTopicsResponse]:
    """One that takes two batches."""
    records: list[Message] = [
        ConfigRecord(resource_type=2, resource_name="a", name=str(number), value="x")
        for number in range(10_001)
    ]
    return OperationOutcome(records, DeleteTopicsResponse())


def test_half_of_an_operation_is_aborted_by_the_next_controller_on_every_replica() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        deposed = await lead(world)
        follower, third = others(world, deposed)
        await world.crash(third.id)
        start = deposed.quorum.log.log_end_offset
        submitted = deposed.controller.submit(large_operation, DeleteTopicsRequest())
        operation = asyncio.ensure_future(submitted)
        await world.until(lambda: follower.quorum.log.log_end_offset > start)
        world.isolate(deposed.id)
        assert start < follower.quorum.log.log_end_offset < deposed.quorum.log.log_end_offset
        world.start(third.id)
        assert code(await outcome(world, operation)) is ErrorCode.NOT_CONTROLLER
        await world.until(lambda: follower.is_active)
        world.heal()
        await world.wait_caught_up()
        for replica in world.replicas.values():
            assert not replica.quorum.metadata.is_in_transaction
            assert not replica.image.topic_configs("a")
        await world.do(follower.controller.submit(large_operation, DeleteTopicsRequest()))
        await world.wait_caught_up()
        for replica in world.replicas.values():
            assert len(replica.image.topic_configs("a")) == 10_001

    # A fetch brings one batch.
    play(scene, fetch_bytes_max=1)


def test_no_snapshot_is_taken_in_the_middle_of_an_operation() -> None:
    """It would keep neither the beginning, which the image does not show, nor the log of it."""

    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        await world.do(leader.controller.submit(large_operation, DeleteTopicsRequest()))
        await world.wait_caught_up()
        for node_id in list(world.replicas):
            await world.stop(node_id)
        world.start()
        await world.wait_caught_up()
        for replica in world.replicas.values():
            assert len(replica.image.topic_configs("a")) == 10_001
            assert replica.image == leader.image

    play(scene, fetch_bytes_max=1, log_config=SOON)


def test_leadership_that_ends_within_an_append_leaves_no_waiter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    append = MetadataQuorum.append

    def append_and_resign(quorum: MetadataQuorum, records: Any, *, metadata_version: int) -> None:
        append(quorum, records, metadata_version=metadata_version)
        if any(isinstance(record, ConfigRecord) for record in records):
            quorum._process(quorum.raft.resign)

    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        monkeypatch.setattr(MetadataQuorum, "append", append_and_resign)
        submitted = leader.controller.submit(large_operation, DeleteTopicsRequest())
        assert code(await outcome(world, asyncio.ensure_future(submitted))) is (
            ErrorCode.NOT_CONTROLLER
        )

    play(scene)


# ---- the next leader


def test_leader_that_is_gone_is_replaced_and_nothing_answered_is_lost() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        first = await lead(world)
        await world.do(create(first.controller, "a"))
        await world.crash(first.id, with_power=True)
        second = await world.wait_active()
        assert second.quorum.leader_and_epoch.epoch > first.quorum.leader_and_epoch.epoch
        assert second.topics == {"a"}
        await world.do(create(second.controller, "b"))
        world.start(first.id)
        await world.wait_caught_up()
        assert world.replicas[first.id].topics == {"a", "b"}

    play(scene)


def test_word_of_a_lost_connection_spares_the_wait_for_a_dead_leader() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        await world.crash(leader.id)
        died = world.clock.monotonic()
        for replica in world.replicas.values():
            replica.quorum.leader_lost()
        await world.wait_active()
        assert world.clock.monotonic() - died < 0.5

    play(scene)


def test_word_of_a_lost_connection_does_not_depose_a_leader_that_is_well() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        misled, _ = others(world, leader)
        misled.quorum.leader_lost()
        epoch = leader.quorum.leader_and_epoch.epoch
        await world.pass_time(5.0)
        assert world.active == [leader]
        assert leader.quorum.leader_and_epoch.epoch == epoch

    play(scene)


def test_leader_that_stops_hands_over_at_once() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        world.isolate(leader.id)
        creation = asyncio.ensure_future(create(leader.controller, "a"))
        await world.pass_time(0.1)
        world.heal()
        began = world.clock.monotonic()
        await world.stop(leader.id)
        assert code(await outcome(world, creation)) is ErrorCode.NOT_CONTROLLER
        await world.wait_active()
        # Far less than anybody would wait for a leader that says nothing.
        assert world.clock.monotonic() - began < 1.0
        assert [name for sender, _, name in world.sent if sender == leader.id].count(
            "EndQuorumEpochRequest"
        ) == 2

    play(scene)


def test_leader_that_stops_alone_does_not_wait_for_long() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        for replica in others(world, leader):
            await world.crash(replica.id)
        began = world.clock.monotonic()
        await world.stop(leader.id)
        assert world.clock.monotonic() - began < 0.5

    play(scene)


# ---- snapshots


async def leave_behind(world: SimulatedQuorum, leader: Replica, node_id: int) -> None:
    """Writes so much while a node is down that its place in the log is gone."""
    await world.do(create(leader.controller, "seen"))
    await world.wait_caught_up()
    behind = world.replicas[node_id].quorum.log.log_end_offset
    await world.crash(node_id)
    number = 0
    while leader.quorum.log.start.offset <= behind:
        await world.do(create(leader.controller, f"topic-{number}"))
        await world.pass_time(0.01)
        number += 1
        assert number < 500, "the log keeps everything"


@pytest.mark.parametrize("bytes_max", [100, 1 << 20])
def test_replica_that_fell_behind_gets_the_snapshot_and_notifies_of_the_difference(
    bytes_max: int,
) -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        late, *_ = others(world, leader)
        await leave_behind(world, leader, late.id)
        world.sent.clear()
        world.start(late.id)
        replica = world.replicas[late.id]
        metadata = replica.quorum.metadata
        shown = [replica.image.copy()]

        def check(delta: Any) -> None:
            assert_leads(shown[-1], delta, metadata.image)
            shown.append(metadata.image.copy())

        metadata.listen(check)
        await world.wait_caught_up()
        chunks = world.sent.count((late.id, leader.id, "FetchSnapshotRequest"))
        assert chunks > 1 if bytes_max == 100 else chunks == 1
        assert replica.image == leader.image
        assert shown[-1] == leader.image
        await world.do(create(leader.controller, "after"))
        await world.wait_caught_up()
        assert "after" in replica.topics
        # It is as good on its disk.
        await world.crash(late.id, with_power=True)
        world.sent.clear()
        world.start(late.id)
        await world.wait_caught_up()
        assert world.replicas[late.id].image == leader.image
        assert "FetchSnapshotRequest" not in {name for _, _, name in world.sent}

    play(scene, log_config=SOON, fetch_snapshot_bytes_max=bytes_max)


def test_snapshot_that_is_none_does_not_take_the_place_of_the_log() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        late, *_ = others(world, leader)
        await leave_behind(world, leader, late.id)
        for name in leader.disk.list_directory(PATH):
            if name.endswith(".checkpoint"):
                leader.disk.flip_bit(f"{PATH}/{name}", position=300, bit=0)
        world.start(late.id)
        replica = world.replicas[late.id]
        before = replica.quorum.log.end
        await world.until(lambda: replica.quorum.failure)
        assert isinstance(replica.quorum.failure, CorruptSnapshotError)
        await world.crash(late.id, with_power=True)
        world.start(late.id)
        assert world.replicas[late.id].quorum.log.end == before

    play(scene, log_config=SOON)


# ---- what ends a replica


def test_leader_whose_disk_fails_is_replaced() -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        await world.do(create(leader.controller, "a"))
        leader.disk.faults.fail(PATH, Operation.SYNC)
        creation = asyncio.ensure_future(create(leader.controller, "b"))
        assert code(await outcome(world, creation)) is ErrorCode.NOT_CONTROLLER
        assert isinstance(leader.quorum.failure, OSError)
        assert not leader.is_active
        with pytest.raises(ConnectionAbortedError, match="has failed"):
            await leader.quorum.handle(VoteRequest())
        await world.until(lambda: [each for each in world.active if each is not leader])
        (second,) = world.active
        assert "a" in second.topics
        assert await world.do(create(second.controller, "c"))
        assert [type(error) for error in leader.errors] == [OSError]
        leader.errors.clear()

    play(scene)


@pytest.mark.parametrize("operation", [Operation.SYNC, Operation.WRITE, Operation.NAMES])
def test_follower_whose_disk_fails_takes_part_no_more(operation: Operation) -> None:
    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        follower, _ = others(world, leader)
        if operation is Operation.NAMES:
            # It is asked for its vote, which it cannot keep.
            follower.disk.faults.fail(PATH, operation)
            await world.crash(leader.id)
            world.start(leader.id)
            await world.until(lambda: follower.quorum.failure)
        else:
            follower.disk.faults.fail(PATH, operation)
            await world.do(create(leader.controller, "a"))
            await world.until(lambda: follower.quorum.failure)
            assert not follower.topics
        assert isinstance(follower.quorum.failure, OSError)
        leader = await world.wait_active()
        assert leader.id != follower.id
        await world.do(create(leader.controller, "b"))
        follower.errors.clear()

    play(scene)


def test_replica_that_cannot_begin_says_why() -> None:
    """Alone, it votes for itself at once, and has to keep that."""

    async def scene(world: SimulatedQuorum) -> None:
        await world.wait_caught_up()
        await world.crash(1)
        replica = Replica(world, 1)
        replica.disk.faults.fail(PATH, Operation.NAMES)
        with pytest.raises(OSError, match="simulated"):
            replica.quorum.start(replica.controller)

    play(scene, 1)


def test_replica_that_would_lose_what_was_committed_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def respond(*_arguments: object, **_options: object) -> None:
        raise CommittedRecordsLostError("a majority has lost data")

    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        monkeypatch.setattr(Raft, "respond", respond)
        followers = others(world, leader)
        await world.until(lambda: all(each.quorum.failure for each in followers))
        for follower in followers:
            assert isinstance(follower.quorum.failure, CommittedRecordsLostError)

    play(scene)


def test_listener_that_fails_ends_only_its_replica() -> None:
    def fail(_delta: object) -> None:
        raise LookupError("a listener does not know what to do")

    async def scene(world: SimulatedQuorum) -> None:
        leader = await lead(world)
        follower, other = others(world, leader)
        follower.quorum.metadata.listen(fail)
        await world.do(create(leader.controller, "a"))
        await world.until(lambda: follower.quorum.failure and other.topics)
        assert isinstance(follower.quorum.failure, LookupError)

    play(scene)


def test_controller_that_cannot_begin_leaves_it_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    activate = Controller.activate
    failed: list[Controller] = []

    def fail_once(controller: Controller, epoch: int) -> None:
        if not failed:
            failed.append(controller)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no room")
        activate(controller, epoch)

    async def scene(world: SimulatedQuorum) -> None:
        monkeypatch.setattr(Controller, "activate", fail_once)
        await world.until(lambda: world.active)
        (leader,) = world.active
        assert leader.controller not in failed
        assert failed[0].quorum.failure is not None

    play(scene)
