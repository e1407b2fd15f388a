from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from ottla.configs import ConfigResourceType
from ottla.metadata.partition import UNASSIGNED_DIRECTORY
from ottla.model import TopicPartition, Uuid
from ottla.simulation import Operation, PowerLost, SeededDice, SimulatedDisk
from ottla.storage.directories.partition_metadata import write_partition_metadata
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of


def delete_topic(node: OneNode, name: str) -> None:
    (result,) = node.send_request(DeleteTopicsRequest(topic_names=[name]), 5).responses
    assert result.error_code == 0


def strays(disk: SimulatedDisk, directory: str = "/data") -> list[str]:
    return [name for name in disk.list_directory(directory) if name.endswith("-stray")]


def test_logs_and_partitions_are_back_after_a_restart(start_node: StartNode) -> None:
    node = start_node()
    topic_id = node.create_topic("orders", partitions=2, configs={"retention.ms": "99"})
    node.append("orders", batch_of(b"value"), index=1)

    node = start_node(node.crash())
    partition = node.broker.partitions.by_id(topic_id, 1)
    log = partition.require_log()

    assert (log.log_end_offset, log.high_watermark) == (1, 1)
    assert log.config.retention_ms == 99
    assert partition.leader == node.broker.cluster.node_id


def test_a_restart_after_a_clean_stop_finds_the_leader_epoch_of_the_metadata(
    start_node: StartNode,
) -> None:
    node = start_node()
    node.create_topic("orders")
    node.stop()

    node = start_node(node.disk)
    registration = node.broker.cluster.image.topics.by_name["orders"].partitions[0]
    partition = node.broker.partitions.by_name("orders", 0)

    assert partition.leader_epoch == registration.leader_epoch
    assert partition.leader == registration.leader == node.broker.cluster.node_id


def test_a_log_that_a_crash_took_is_made_again(start_node: StartNode) -> None:
    node = start_node()
    node.create_topic("orders", partitions=2)
    disk = node.crash()
    for name in disk.list_directory("/data/orders-1"):
        disk.remove(f"/data/orders-1/{name}")
    disk.remove_directory("/data/orders-1")

    node = start_node(disk)
    node.append("orders", batch_of(b"value"), index=1)


def test_a_topic_that_was_deleted_meanwhile_leaves_a_stray(start_node: StartNode) -> None:
    node = start_node()
    node.create_topic("orders")
    node.append("orders", batch_of(b"value"))
    disk = node.crash()
    # As if the node had been away when the topic went.
    disk.rename("/data/orders-0", "/data/payments-0")
    write_partition_metadata(disk, "/data/payments-0", Uuid(b"!" * 16))

    node = start_node(disk)
    names = node.names()

    assert [name.partition(".")[0] for name in strays(disk)] == ["payments-0"]
    assert "orders-0" in names


def test_a_log_of_a_topic_that_was_made_anew_is_a_stray(start_node: StartNode) -> None:
    node = start_node()
    node.create_topic("orders")
    node.append("orders", batch_of(b"old"))
    disk = node.crash()
    node = start_node(seed=1)
    node.create_topic("orders")
    foreign = node.crash().open_readonly("/data/orders-0/partition.metadata")
    own = disk.open("/data/orders-0/partition.metadata")
    own.write_at(0, [foreign.read_at(0, foreign.size())])

    node = start_node(disk)
    end = node.log("orders").log_end_offset

    assert end == 0
    assert len(strays(disk)) == 1


def test_a_directory_without_an_id_that_holds_records_is_set_aside_and_an_empty_one_goes(
    start_node: StartNode,
) -> None:
    node = start_node()
    node.create_topic("empty")
    node.create_topic("full")
    node.append("full", batch_of(b"value"))
    disk = node.crash()
    for topic in ("empty", "full"):
        disk.remove(f"/data/{topic}-0/partition.metadata")

    node = start_node(disk)
    names = node.names()

    assert [name.partition(".")[0] for name in strays(disk)] == ["full-0"]
    assert {"empty-0", "full-0"} <= set(names)


def _make_and_delete(node: OneNode) -> None:
    node.create_topic("deleted")
    delete_topic(node, "deleted")
    node.create_topic("deleted", partitions=3)


@pytest.mark.parametrize("changes", [*range(0, 72, 2), 1_000])
def test_power_that_fails_while_topics_are_made_and_deleted_leaves_a_node_that_starts(
    changes: int, start_node: StartNode
) -> None:
    node = start_node(seed=changes)
    node.create_topic("kept", partitions=2)
    node.append("kept", batch_of(b"value"))
    node.log("kept").flush()
    node.disk.faults.power_off_after(changes)
    # What was under way fails in the middle, whatever it was.
    with suppress(PowerLost, AssertionError):
        _make_and_delete(node)
    node.abandon()
    node.disk.crash(SeededDice(changes))

    node = start_node(node.disk, seed=changes)
    expected = {
        (TopicPartition(topic.name, index), topic.id)
        for topic in node.broker.cluster.image.topics
        for index in topic.partitions
    }
    (directory,) = node.broker.logs.directories
    found = {(each.name, directory.topic_id(each.name)) for each in node.broker.partitions}

    assert found == expected
    assert all(partition.log is not None for partition in node.broker.partitions)
    assert node.log("kept").log_end_offset == 1


def test_operations_that_come_together_are_applied_in_their_order(node: OneNode) -> None:
    def create(name: str) -> CreateTopicsRequest:
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        return CreateTopicsRequest(topics=[topic])

    async def hurry() -> None:
        await asyncio.gather(
            node.answer(create("orders"), 7),
            node.answer(create("payments"), 7),
            node.answer(DeleteTopicsRequest(topic_names=["orders"]), 5),
            node.answer(create("orders"), 7),
        )

    node.run(hurry())

    topic_id = node.broker.cluster.image.topics.by_name["orders"].id
    assert node.broker.partitions.by_name("orders", 0).topic_id == topic_id
    assert node.names() == ["orders-0", "payments-0"]


def test_changed_configs_reach_open_logs_and_their_segments(node: OneNode) -> None:
    node.create_topic("orders", configs={"index.interval.bytes": "100"})
    log = node.log("orders")
    for _ in range(2):
        node.append("orders", batch_of(b"value"))
        log.roll(now_ms=0)

    change = AlterableConfig(name="index.interval.bytes", value="200")
    resource = AlterConfigsResource(
        resource_type=ConfigResourceType.TOPIC, resource_name="orders", configs=[change]
    )
    node.send_request(IncrementalAlterConfigsRequest(resources=[resource]), 1)

    assert log.config.index_interval_bytes == 200
    assert len(log.segments) == 3
    assert {segment.config for segment in log.segments} == {log.config}


def test_a_brokers_producer_expiration_reaches_open_logs(node: OneNode) -> None:
    node.create_topic("orders")
    node.append("orders", batch_of(b"value", timestamp=1_000, producer_id=7, sequence=0))

    change = AlterableConfig(name="producer.id.expiration.ms", value="5000")
    resource = AlterConfigsResource(
        resource_type=ConfigResourceType.BROKER, resource_name="", configs=[change]
    )
    node.send_request(IncrementalAlterConfigsRequest(resources=[resource]), 1)

    producers = node.log("orders").producers.state
    producers.remove_expired(5_999)
    assert list(producers.entries) == [7]
    producers.remove_expired(6_000)
    assert list(producers.entries) == []


def test_logs_go_where_there_are_fewest(start_node: StartNode) -> None:
    node = start_node(directories=("/a", "/b"))
    node.create_topic("orders", partitions=4)

    counts = [len(directory.logs) for directory in node.broker.logs.directories]
    registration = node.broker.cluster.image.topics.by_name["orders"].partitions[0]

    assert counts == [2, 2]
    assert registration.directories == (UNASSIGNED_DIRECTORY,)


def test_cordoned_directories_get_no_new_logs(start_node: StartNode) -> None:
    node = start_node(directories=("/a", "/b"), configs={"cordoned.log.dirs": "/a"})
    node.create_topic("orders", partitions=4)

    counts = {each.path: len(each.logs) for each in node.broker.logs.directories}

    assert counts == {"/a": 0, "/b": 4}


def test_a_log_that_may_be_in_a_failed_directory_is_offline_and_does_not_begin_anew(
    start_node: StartNode,
) -> None:
    node = start_node(directories=("/a", "/b"))
    node.create_topic("orders", partitions=2)
    disk = node.crash()
    disk.faults.fail("/b")

    node = start_node(disk, directories=("/a", "/b"))
    logs = [node.broker.partitions.by_name("orders", index).log for index in range(2)]
    node.create_topic("payments", partitions=2)
    placed = {node.log("payments", index).directory for index in range(2)}

    assert sorted(log is None for log in logs) == [False, True]
    assert placed == {"/a/payments-0", "/a/payments-1"}


def test_a_directory_that_fails_while_logs_are_made_leaves_partitions_without_a_log(
    start_node: StartNode,
) -> None:
    node = start_node(directories=("/a", "/b"))
    node.disk.faults.fail("/b")
    topic = CreatableTopic(name="orders", num_partitions=2, replication_factor=1)

    node.send_request(CreateTopicsRequest(topics=[topic]), 7)
    logs = [node.broker.partitions.by_name("orders", index).log for index in range(2)]

    assert sorted(log is None for log in logs) == [False, True]
    assert list(node.broker.logs.failed) == ["/b"]


def test_a_partition_whose_files_rotted_is_offline_and_the_others_are_not(
    start_node: StartNode,
) -> None:
    node = start_node()
    node.create_topic("orders")
    node.create_topic("payments")
    for topic in ("orders", "payments"):
        node.append(topic, batch_of(b"value"))
        node.log(topic).flush()
    node.broker.logs.directories[0].write_checkpoints()
    disk = node.crash()
    disk.flip_bit("/data/orders-0/00000000000000000000.log", position=70, bit=3)

    node = start_node(disk)
    logs = {each.name.topic: each.log is None for each in node.broker.partitions}

    assert logs == {"orders": True, "payments": False}


def test_files_of_a_deleted_topic_that_cannot_be_removed_are_left_for_the_next_start(
    start_node: StartNode,
) -> None:
    node = start_node()
    node.create_topic("orders")
    node.disk.faults.fail("/data/orders-0", Operation.READ)
    delete_topic(node, "orders")
    disk = node.crash()

    node = start_node(disk)
    names = node.names()

    assert names == []


def test_removal_of_an_unknown_topic_id_does_nothing(node: OneNode) -> None:
    topic_id = node.create_topic("orders")
    delete_topic(node, "orders")

    assert node.broker.partitions.remove_topic(topic_id) == []
    assert node.broker.partitions.remove_topic(Uuid(b"?" * 16)) == []


def test_a_change_that_cannot_be_applied_does_not_take_the_next_with_it(
    start_node: StartNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = start_node()
    create = type(node.broker.replicas)._create

    async def fail(*arguments: object) -> None:
        monkeypatch.setattr(type(node.broker.replicas), "_create", create)
        raise RuntimeError("an unexpected error")

    monkeypatch.setattr(type(node.broker.replicas), "_create", fail)
    node.create_topic("orders")
    node.create_topic("payments")

    node.append("payments", batch_of(b"value"))


def test_the_chosen_directory_is_reported_to_the_controller(start_node: StartNode) -> None:
    node = start_node(directories=("/a", "/b"))
    node.create_topic("orders", partitions=4)

    async def turns() -> None:
        for _ in range(20):
            await asyncio.sleep(0)  # noqa: TID251 - lets tasks run

    node.run(turns())
    ids = {directory.path: directory.id for directory in node.broker.logs.directories}
    for index, registration in node.image.topics.by_name["orders"].partitions.items():
        path = node.log("orders", index).directory.rpartition("/")[0]
        assert registration.directory_of(node.broker.cluster.node_id) == ids[path]
