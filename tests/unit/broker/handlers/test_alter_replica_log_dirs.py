from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from tests.one_node import OneNode, StartNode


@pytest.fixture
def two_directories(start_node: StartNode) -> OneNode:
    return start_node(directories=("/a", "/b"))


def move(node: OneNode, path: str, topic: str = "orders") -> int:
    wanted = AlterReplicaLogDir(
        path=path, topics=[AlterReplicaLogDirTopic(name=topic, partitions=[0])]
    )
    (result,) = node.ask(AlterReplicaLogDirsRequest(dirs=[wanted]), 2).results
    (partition,) = result.partitions
    assert (result.topic_name, partition.partition_index) == (topic, 0)
    error: int = partition.error_code
    return error


def test_a_log_that_is_where_it_is_wanted_stays(two_directories: OneNode) -> None:
    node = two_directories
    node.create_topic("orders")
    here = node.log("orders").directory.removesuffix("/orders-0")
    there = "/b" if here == "/a" else "/a"

    assert move(node, here) == ErrorCode.NONE
    assert move(node, there) == ErrorCode.OPERATION_NOT_ATTEMPTED


def test_what_there_is_not_cannot_be_moved(two_directories: OneNode) -> None:
    node = two_directories
    node.create_topic("orders")

    assert move(node, "/c") == ErrorCode.LOG_DIR_NOT_FOUND
    assert move(node, "/a", "users") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    node.broker.directory_failed("/b", OSError(5, "broken"))
    assert move(node, "/b") == ErrorCode.KAFKA_STORAGE_ERROR
