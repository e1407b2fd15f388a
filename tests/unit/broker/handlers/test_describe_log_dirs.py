from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of

ALL = DescribeLogDirsRequest(topics=None)


def described(node: OneNode, request: DescribeLogDirsRequest = ALL) -> list[DescribeLogDirsResult]:
    response: DescribeLogDirsResponse = node.send_request(request, 5)
    assert response.error_code == ErrorCode.NONE
    return response.results


def sizes(result: DescribeLogDirsResult) -> dict[tuple[str, int], int]:
    return {
        (topic.name, each.partition_index): each.partition_size
        for topic in result.topics
        for each in topic.partitions
    }


def test_all_logs_are_shown_with_their_sizes(node: OneNode) -> None:
    node.create_topic("orders", partitions=2)
    batch = batch_of(b"value")
    node.append("orders", batch, index=1)

    (result,) = described(node)

    assert result.log_dir == "/data"
    assert sizes(result) == {("orders", 0): 0, ("orders", 1): len(batch)}
    (topic,) = result.topics
    assert {(each.offset_lag, each.is_future_key) for each in topic.partitions} == {(0, False)}


def test_only_what_is_requested_is_shown(node: OneNode) -> None:
    node.create_topic("orders", partitions=2)
    node.create_topic("payments")
    topics = [DescribableLogDirTopic(topic="orders", partitions=[1, 7])]

    (result,) = described(node, DescribeLogDirsRequest(topics=topics))

    assert list(sizes(result)) == [("orders", 1)]


@pytest.mark.parametrize("version", range(1, 6))
def test_every_version_is_answered(node: OneNode, version: int) -> None:
    assert [result.log_dir for result in node.send_request(ALL, version).results] == ["/data"]


def test_the_size_of_the_disk_is_returned(node: OneNode) -> None:
    node.disk.limit_space(1 << 20)

    (result,) = described(node)

    assert result.usable_bytes == 1 << 20
    assert result.total_bytes > result.usable_bytes


def test_a_failed_directory_has_an_error_and_the_others_do_not(start_node: StartNode) -> None:
    node = start_node(directories=("/a", "/b"))
    node.disk.faults.fail("/b")
    node.broker.failures.directory_failed("/b", OSError(5, "broken"))

    results = {result.log_dir: result.error_code for result in described(node)}

    assert results == {"/a": ErrorCode.NONE, "/b": ErrorCode.KAFKA_STORAGE_ERROR}


def test_a_directory_that_fails_now_is_shown_as_failed(node: OneNode) -> None:
    node.disk.faults.fail("/data")

    (result,) = described(node)

    assert (result.log_dir, result.error_code) == ("/data", ErrorCode.KAFKA_STORAGE_ERROR)


def test_cordoned_directories_are_marked(start_node: StartNode) -> None:
    node = start_node(directories=("/a", "/b"), configs={"cordoned.log.dirs": "/b"})

    cordoned = {result.log_dir: result.is_cordoned for result in described(node)}

    assert cordoned == {"/a": False, "/b": True}
