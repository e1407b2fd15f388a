"""The driver: what is answered is safe, what is seen is committed, waiting is shared."""

import asyncio
import errno

import pytest

from ottla.controller.controller import Controller
from ottla.controller.metadata_log import METADATA_PARTITION, MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.alter_configs import incremental_alter_configs
from ottla.controller.operations.delete_topics import delete_topics
from ottla.metadata import MetadataDelta, MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.simulation.disk.disk_faults import Operation
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.topics import RemoveTopicRecord
from ottla.wire.stored.cluster_metadata.transactions import BeginTransactionRecord
from tests.support.controller.cluster_images import features, topic, uuid
from tests.support.controller.controller_history import ControllerHistory
from tests.support.controller.simulated_controllers import DIRECTORY, World, create, serve_broker
from tests.support.storage.held_background import HeldBackground, settle

PATH = f"{DIRECTORY}/{METADATA_PARTITION}"


def errors(*responses: object) -> list[int]:
    return [response.topics[0].error_code for response in responses]  # type: ignore[attr-defined]


def test_empty_log_becomes_a_cluster() -> None:
    world = World(min_insync_replicas="2")

    async def play(controller: Controller) -> None:
        image = controller.quorum.metadata.image
        assert image.features == {
            record.name: record.feature_level  # type: ignore[attr-defined]
            for record in features()
        }
        assert image.cluster_configs == {"min.insync.replicas": "2"}
        assert controller.quorum.leader_and_epoch.epoch == 1
        await controller.quorum.close()

    world.run(play)


def test_next_controller_finds_what_the_last_one_answered() -> None:
    world = World()

    async def first(controller: Controller) -> MetadataImage:
        await serve_broker(controller)
        assert errors(await create(controller, "a", partitions=3)) == [0]
        return controller.quorum.metadata.image

    async def second(controller: Controller) -> MetadataImage:
        assert controller.quorum.leader_and_epoch.epoch == 2
        await controller.quorum.close()
        return controller.quorum.metadata.image

    left = world.run(first)
    world.disk.crash(world.dice)
    assert world.run(second) == left


def test_operations_that_arrive_during_a_flush_share_the_next_one() -> None:
    world = World()
    world.background = background = HeldBackground()

    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        background.hold()
        creations = [asyncio.ensure_future(create(controller, "a"))]
        await settle()
        assert len(background.held) == 1
        creations += [asyncio.ensure_future(create(controller, name)) for name in "bcd"]
        await settle()
        assert len(background.held) == 1
        await background.release()
        assert [creation.done() for creation in creations] == [True, False, False, False]
        assert len(background.held) == 1
        await background.release()
        assert errors(*[await creation for creation in creations]) == [0] * 4

    world.run(play)


def test_only_what_is_committed_is_seen_but_operations_see_all() -> None:
    world = World()
    world.background = background = HeldBackground()

    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        background.hold()
        deltas: list[MetadataDelta] = []
        controller.quorum.metadata.listen(deltas.append)
        first = asyncio.ensure_future(create(controller, "a"))
        second = asyncio.ensure_future(create(controller, "a"))
        await settle()
        assert not controller.quorum.metadata.image.topics
        assert not deltas
        # The second answer depends on the first operation, so it waits as well.
        assert not second.done()
        await background.release()
        assert set(controller.quorum.metadata.image.topics.by_name) == {"a"}
        assert [len(delta.topics_created) for delta in deltas] == [1]
        assert errors(await first, await second) == [0, ErrorCode.TOPIC_ALREADY_EXISTS]

    world.run(play)


def test_listeners_are_notified_before_the_answer_and_see_the_image() -> None:
    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        seen: list[set[str]] = []
        controller.quorum.metadata.listen(
            lambda _delta: seen.append(set(controller.quorum.metadata.image.topics.by_name))
        )
        await create(controller, "a")
        assert seen == [{"a"}]
        await controller.submit(delete_topics, DeleteTopicsRequest(topic_names=["a"]))
        assert seen == [{"a"}, set()]
        await controller.submit(delete_topics, DeleteTopicsRequest(topic_names=["a"]))
        assert len(seen) == 2

    World().run(play)


def test_answer_without_records_needs_no_flush_if_nothing_waits() -> None:
    world = World()

    async def play(controller: Controller) -> None:
        syncs = world.disk.counters.syncs
        response = await controller.submit(delete_topics, DeleteTopicsRequest(topic_names=["a"]))
        assert response.responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert world.disk.counters.syncs == syncs

    world.run(play)


def test_operation_whose_caller_has_gone_takes_effect() -> None:
    world = World()
    world.background = background = HeldBackground()

    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        background.hold()
        creation = asyncio.ensure_future(create(controller, "a"))
        await settle()
        creation.cancel()
        await background.release()
        assert creation.cancelled()
        assert set(controller.quorum.metadata.image.topics.by_name) == {"a"}

    world.run(play)


def test_failed_flush_ends_the_controller_without_a_wrong_response() -> None:
    world = World()

    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        world.disk.faults.fail(PATH, Operation.SYNC)
        outcomes = await asyncio.gather(
            create(controller, "a"), create(controller, "b"), return_exceptions=True
        )
        for outcome in outcomes:
            # They may be on the device or not: the next leader decides.
            assert isinstance(outcome, KafkaError)
            assert outcome.code is ErrorCode.NOT_CONTROLLER
        assert isinstance(controller.quorum.failure, OSError)
        assert not controller.quorum.metadata.image.topics
        with pytest.raises(KafkaError) as refused:
            await create(controller, "c")
        assert refused.value.code is ErrorCode.NOT_CONTROLLER
        await controller.quorum.close()

    world.run(play)
    assert [type(error) for error in world.task_errors] == [OSError]
    world.disk.faults.heal(PATH)

    async def again(controller: Controller) -> None:
        assert errors(await create(controller, "c")) == [0]

    world.run(again)


def test_full_disk_refuses_and_serves_on_when_there_is_room() -> None:
    world = World()

    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        world.disk.limit_space(0)
        with pytest.raises(KafkaError, match="No space left") as refused:
            await create(controller, "a")
        assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert not controller.quorum.metadata.image.topics
        world.disk.limit_space(None)
        assert errors(await create(controller, "a")) == [0]

    world.run(play)


def test_records_that_cannot_be_applied_are_not_written() -> None:
    """Every replica would have to stop at them, and so would every next start."""
    world = World()

    def wrong(
        _image: MetadataImage, _request: DeleteTopicsRequest, _context: Context
    ) -> OperationOutcome[DeleteTopicsResponse]:
        records: list[Message] = [*topic("a", [1]), RemoveTopicRecord(topic_id=uuid(9))]
        return OperationOutcome(records, DeleteTopicsResponse())

    async def play(controller: Controller) -> MetadataImage:
        await serve_broker(controller)
        end_offset = controller.quorum.log.log_end_offset
        with pytest.raises(KafkaError, match="invalid metadata records") as refused:
            await controller.submit(wrong, DeleteTopicsRequest())
        assert refused.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
        assert controller.quorum.log.log_end_offset == end_offset
        # Nothing of it is left for the next operation to see.
        assert errors(await create(controller, "a")) == [0]
        return controller.quorum.metadata.image

    async def again(controller: Controller) -> MetadataImage:
        return controller.quorum.metadata.image

    left = world.run(play)
    assert world.run(again) == left


def test_operation_that_does_not_fit_a_batch_is_applied_as_a_whole() -> None:
    world = World()
    configs: list[Message] = [
        ConfigRecord(resource_type=2, resource_name="a", name=str(number), value="x")
        for number in range(10_001)
    ]

    def large(
        _image: MetadataImage, _request: DeleteTopicsRequest, _context: Context
    ) -> OperationOutcome[DeleteTopicsResponse]:
        return OperationOutcome(configs, DeleteTopicsResponse())

    async def play(controller: Controller) -> None:
        deltas: list[MetadataDelta] = []
        controller.quorum.metadata.listen(deltas.append)
        await controller.submit(large, DeleteTopicsRequest())
        assert len(controller.quorum.metadata.image.topic_configs("a")) == 10_001
        assert len(deltas) == 1
        assert controller.proposed_image == controller.quorum.metadata.image

    world.run(play)


def test_unfinished_transaction_is_aborted() -> None:
    world = World()

    async def first(controller: Controller) -> MetadataImage:
        await controller.quorum.close()
        return controller.quorum.metadata.image

    left = world.run(first)
    log = open_metadata_log(world.disk, DIRECTORY, MetadataLogConfig(), now_ms=0).log
    begun = [BeginTransactionRecord(), *topic("a", [1])]
    log.append(begun, epoch=1, metadata_version=30, now_ms=0)
    log.close()

    async def second(controller: Controller) -> None:
        assert controller.quorum.metadata.image == left
        await serve_broker(controller)
        await create(controller, "a")
        assert set(controller.quorum.metadata.image.topics.by_name) == {"a"}
        await controller.quorum.close()

    world.run(second)
    loaded = open_metadata_log(world.disk, DIRECTORY, MetadataLogConfig(), now_ms=0)
    assert not loaded.committed.replay_appended().is_in_transaction


def test_dynamic_broker_configs_count_at_once_and_after_a_restart() -> None:
    world = World()
    change = AlterableConfig(name="log.retention.ms", value="12345")
    resource = AlterConfigsResource(resource_type=4, resource_name="", configs=[change])

    async def retention(controller: Controller, name: str) -> str | None:
        response = await create(controller, name)
        configs = response.topics[0].configs or []
        return next(config.value for config in configs if config.name == "retention.ms")

    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        before = await retention(controller, "a")
        request = IncrementalAlterConfigsRequest(resources=[resource])
        response = await controller.submit(incremental_alter_configs, request)
        assert response.responses[0].error_code == 0
        assert before != await retention(controller, "b") == "12345"
        await controller.quorum.close()

    async def again(controller: Controller) -> None:
        assert await retention(controller, "c") == "12345"

    world.run(play)
    world.run(again)


def test_snapshots_are_taken_and_the_log_stays_short() -> None:
    world = World(metadata_log_max_record_bytes_between_snapshots="2000")

    async def play(controller: Controller) -> MetadataImage:
        await serve_broker(controller)
        for number in range(60):
            await create(controller, f"topic-{number}")
        await controller.quorum.close()
        return controller.quorum.metadata.image

    left = world.run(play)
    names = world.disk.list_directory(PATH)
    assert sum(name.endswith(".checkpoint") for name in names) == 2
    size = sum(world.disk.file_size(f"{PATH}/{name}") for name in names if name.endswith(".log"))
    assert size < 3 * 2000
    assert not world.task_errors

    async def again(controller: Controller) -> MetadataImage:
        return controller.quorum.metadata.image

    assert world.run(again) == left


def test_snapshot_that_cannot_be_written_is_not_needed() -> None:
    world = World(metadata_log_max_record_bytes_between_snapshots="500")

    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        end = controller.quorum.metadata.end_offset
        for number in range(20):
            for offset in range(end, end + 200):
                partial = f"{PATH}/{offset:020d}-0000000001.checkpoint.part"
                world.disk.faults.fail(partial, error=errno.ENOSPC)
            assert errors(await create(controller, f"topic-{number}")) == [0]
        await controller.quorum.close()

    world.run(play)
    assert not world.task_errors


def test_close_waits_for_what_was_submitted_and_takes_no_more() -> None:
    async def play(controller: Controller) -> None:
        await serve_broker(controller)
        creation = asyncio.ensure_future(create(controller, "a"))
        await asyncio.sleep(0)  # noqa: TID251 - lets it be submitted
        await controller.quorum.close()
        assert errors(await creation) == [0]
        with pytest.raises(KafkaError) as refused:
            await create(controller, "b")
        assert refused.value.code is ErrorCode.NOT_CONTROLLER

    World().run(play)


@pytest.mark.judged
@pytest.mark.parametrize("first_seed", range(0, 200, 20))
def test_no_crash_loses_what_was_answered(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 20):
        try:
            ControllerHistory(seed).run()
        except Exception as error:
            raise AssertionError(
                f"history {seed} fails; ControllerHistory({seed}).run() plays it again"
            ) from error
