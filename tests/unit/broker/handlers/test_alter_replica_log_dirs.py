from __future__ import annotations

import asyncio

import pytest

from ottla.model import ErrorCode
from ottla.simulation import SimulatedDisk
from ottla.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from ottla.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.record import iterate_records
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of


@pytest.fixture
def two_directories(start_node: StartNode) -> OneNode:
    return start_node(directories=("/a", "/b"))


def move(node: OneNode, path: str, topic: str = "orders") -> int:
    wanted = AlterReplicaLogDir(
        path=path, topics=[AlterReplicaLogDirTopic(name=topic, partitions=[0])]
    )
    (result,) = node.send_request(AlterReplicaLogDirsRequest(dirs=[wanted]), 2).results
    (partition,) = result.partitions
    assert (result.topic_name, partition.partition_index) == (topic, 0)
    error: int = partition.error_code
    return error


def settle(node: OneNode, seconds: float = 0.0) -> None:
    """Lets what was begun go on, for a while."""

    async def turns() -> None:
        for _ in range(20):
            await asyncio.sleep(0)  # noqa: TID251 - lets tasks run

    for _ in range(20 if seconds else 1):
        node.run(turns())
        node.clock.advance(seconds / 20)
    node.run(turns())


def home(node: OneNode) -> str:
    return node.log("orders").directory.removesuffix("/orders-0")


def elsewhere(node: OneNode) -> str:
    return "/b" if home(node) == "/a" else "/a"


def shown(node: OneNode) -> list[tuple[str, bool, int]]:
    """Where the log is and is going to be, and what the latter lacks."""
    return [
        (result.log_dir, each.is_future_key, each.offset_lag)
        for result in node.send_request(DescribeLogDirsRequest(topics=None), 4).results
        for topic in result.topics
        for each in topic.partitions
    ]


def fill(node: OneNode, *, count: int = 10) -> None:
    for number in range(count):
        node.append("orders", batch_of(b"%d" % number * 1_000))


def values(node: OneNode) -> list[bytes | None]:
    log = node.log("orders")
    found: list[bytes | None] = []
    while len(found) < log.log_end_offset:
        piece = log.read(len(found), bytes_max=1 << 20, upper_offset=log.log_end_offset)
        assert piece is not None
        for position, header in iterate_batches(piece.read()):
            batch = piece.read()[position : position + header.size_in_bytes]
            found += [record.value for record in iterate_records(batch)]
    return found


def slow_node(start_node: StartNode, disk: SimulatedDisk | None = None) -> OneNode:
    """One that copies a kilobyte a second."""
    limit = {"replica.alter.log.dirs.io.max.bytes.per.second": "1000"}
    return start_node(disk, directories=("/a", "/b"), configs=limit)


def test_a_log_is_moved_with_everything_and_appended_to_there(two_directories: OneNode) -> None:
    node = two_directories
    node.create_topic("orders")
    fill(node)
    target, before = elsewhere(node), values(node)

    assert move(node, target) == ErrorCode.NONE
    settle(node)

    assert home(node) == target
    assert values(node) == before
    assert shown(node) == [(target, False, 0)]
    assert node.log("orders").high_watermark == 10
    fill(node)
    assert node.log("orders").log_end_offset == 20
    directory_id = {each.path: each.id for each in node.broker.logs.directories}[target]
    registration = node.image.topics.by_name["orders"].partitions[0]
    assert registration.directory_of(node.broker.cluster.node_id) == directory_id


def test_the_old_log_goes_after_those_who_read_from_it(two_directories: OneNode) -> None:
    node = two_directories
    node.create_topic("orders", configs={"file.delete.delay.ms": "1000"})
    fill(node)
    source, log = home(node), node.log("orders")
    piece = log.read(0, bytes_max=1 << 20, upper_offset=10)
    assert piece is not None

    move(node, elsewhere(node))
    settle(node)

    (old,) = node.names(source)
    assert old.endswith("-delete")
    assert len(piece.read()) == piece.size
    settle(node, 2.0)
    assert node.names(source) == []


def test_a_moved_log_is_found_after_a_restart(start_node: StartNode) -> None:
    node = start_node(directories=("/a", "/b"))
    node.create_topic("orders")
    fill(node)
    before, target = values(node), elsewhere(node)
    move(node, target)
    settle(node)

    node = start_node(node.crash(), directories=("/a", "/b"))

    assert home(node) == target
    assert values(node) == before


def test_a_slow_move_shows_how_far_it_is_and_goes_on_after_a_restart(
    start_node: StartNode,
) -> None:
    node = slow_node(start_node)
    node.create_topic("orders")
    fill(node, count=1)
    target = elsewhere(node)
    move(node, target)
    fill(node, count=9)
    settle(node, 1.0)
    ((_, is_future, lag),) = [each for each in shown(node) if each[0] == target]
    assert is_future
    assert 0 < lag <= 10
    before = values(node)

    node = slow_node(start_node, node.crash())
    assert home(node) != target
    settle(node, 60.0)

    assert home(node) == target
    assert values(node) == before


def test_a_request_for_the_current_directory_cancels_a_move(start_node: StartNode) -> None:
    node = slow_node(start_node)
    node.create_topic("orders")
    fill(node)
    source, target = home(node), elsewhere(node)
    move(node, target)
    settle(node)
    fill(node)
    assert len(shown(node)) == 2

    assert move(node, source) == ErrorCode.NONE
    settle(node, 60.0)

    assert shown(node) == [(source, False, 0)]
    assert node.names(target) == []


def test_a_log_that_was_cut_is_copied_anew(start_node: StartNode) -> None:
    node = slow_node(start_node)
    node.create_topic("orders")
    fill(node, count=1)
    target = elsewhere(node)
    move(node, target)
    fill(node, count=5)
    settle(node, 1.0)
    node.log("orders").truncate_to(1, now_ms=0)
    node.append("orders", batch_of(b"another"))
    before = values(node)

    settle(node, 60.0)

    assert home(node) == target
    assert values(node) == before


def test_a_topic_that_is_deleted_takes_its_move_with_it(start_node: StartNode) -> None:
    node = slow_node(start_node)
    node.create_topic("orders")
    fill(node)
    target = elsewhere(node)
    move(node, target)
    settle(node)
    fill(node)

    node.send_request(DeleteTopicsRequest(topic_names=["orders"]), 5)
    settle(node, 60.0)

    assert node.names(target) == []


def test_of_two_copies_the_one_counts_that_the_metadata_names(start_node: StartNode) -> None:
    node = start_node(directories=("/a", "/b"))
    node.create_topic("orders")
    fill(node)
    source, target = home(node), elsewhere(node)
    move(node, target)
    settle(node)
    disk = node.crash()
    # As if the node had ended before it put the old one aside.
    (old,) = [name for name in disk.list_directory(source) if name.endswith("-delete")]
    disk.rename(f"{source}/{old}", f"{source}/orders-0")

    node = start_node(disk, directories=("/a", "/b"))

    assert home(node) == target
    assert shown(node) == [(target, False, 0)]


def test_a_log_that_is_in_the_target_directory_already_stays(two_directories: OneNode) -> None:
    node = two_directories
    node.create_topic("orders")

    assert move(node, home(node)) == ErrorCode.NONE
    assert len(shown(node)) == 1


def test_what_there_is_not_cannot_be_moved(two_directories: OneNode) -> None:
    node = two_directories
    node.create_topic("orders")

    assert move(node, "/c") == ErrorCode.LOG_DIR_NOT_FOUND
    assert move(node, "/a", "users") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    node.broker.failures.directory_failed("/b", OSError(5, "broken"))
    assert move(node, "/b") == ErrorCode.KAFKA_STORAGE_ERROR
