"""Strays go after their retention, whatever restarts are in between, and not before."""

from __future__ import annotations

import pytest

from ottla.broker.replicas.stray_expiry import StrayExpiry, may_be_needed
from ottla.model import TopicPartition, Uuid
from ottla.runtime.background import InlineBackground
from ottla.simulation import SimulatedDisk
from ottla.storage.directories.partition_metadata import write_partition_metadata
from ottla.storage.directories.stray_directories import FILE_NAME, StrayDirectory
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of

WEEK_SECONDS = 7 * 24 * 60 * 60
TOPICS = 5


def strays(disk: SimulatedDisk) -> list[str]:
    return [name for name in disk.list_directory("/data") if name.endswith("-stray")]


def remove_expired(node: OneNode) -> None:
    node.run(
        StrayExpiry(
            node.broker.cluster, node.broker.logs, node.clock, InlineBackground()
        ).remove_expired()
    )


def disk_with_strays(start_node: StartNode, count: int = TOPICS) -> SimulatedDisk:
    """As if the node had been away when the topics went."""
    node = start_node()
    for number in range(count):
        node.create_topic(f"t{number}")
        node.append(f"t{number}", batch_of(b"value"))
    disk = node.crash()
    for number in range(count):
        disk.rename(f"/data/t{number}-0", f"/data/gone{number}-0")
        write_partition_metadata(disk, f"/data/gone{number}-0", Uuid(bytes([number + 1] * 16)))
    return disk


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "-stray" in each.getMessage()]


def test_all_strays_of_a_directory_are_one_warning_at_each_start(
    start_node: StartNode, caplog: pytest.LogCaptureFixture
) -> None:
    disk = disk_with_strays(start_node)
    for _ in range(2):
        caplog.clear()
        node = start_node(disk)
        (said,) = warnings_of(caplog)
        assert said.startswith(
            "/data contains 5 directories of logs that belong to no partition of this node"
        )
        assert "gone0-0, gone1-0, gone2-0 and 2 more" in said
        assert "each is removed 7 days after it was set aside" in said
        disk = node.crash()


def test_a_stray_is_removed_after_its_retention_and_not_before(start_node: StartNode) -> None:
    node = start_node(disk_with_strays(start_node))
    node.clock.advance(WEEK_SECONDS - 1)
    remove_expired(node)
    assert len(strays(node.disk)) == TOPICS
    node.clock.advance(2)
    remove_expired(node)
    assert strays(node.disk) == []
    assert "t0-0" in node.names()


def test_a_restart_does_not_begin_the_retention_again(start_node: StartNode) -> None:
    node = start_node(disk_with_strays(start_node, 1))
    (name,) = strays(node.disk)
    mark = f"/data/{name}/{FILE_NAME}"
    before = node.disk.open_readonly(mark).read_at(0, 100)
    node.clock.advance(WEEK_SECONDS / 2)
    remove_expired(node)
    disk = node.crash()
    assert disk.open_readonly(mark).read_at(0, 100) == before
    node = start_node(disk)
    assert strays(node.disk) == [name]
    assert disk.open_readonly(mark).read_at(0, 100) == before


def test_a_stray_without_a_mark_is_kept_from_when_it_is_found(start_node: StartNode) -> None:
    """From Kafka, or from an earlier version."""
    node = start_node(disk_with_strays(start_node, 1))
    (name,) = strays(node.disk)
    node.clock.advance(2 * WEEK_SECONDS)
    node.disk.remove(f"/data/{name}/{FILE_NAME}")
    remove_expired(node)
    assert strays(node.disk) == [name]
    node.clock.advance(WEEK_SECONDS + 1)
    remove_expired(node)
    assert strays(node.disk) == []


def test_strays_stay_where_the_retention_is_unlimited(start_node: StartNode) -> None:
    disk = disk_with_strays(start_node, 1)
    node = start_node(disk, configs={"ottla.stray.retention.ms": "-1"})
    node.clock.advance(10 * WEEK_SECONDS)
    remove_expired(node)
    assert len(strays(node.disk)) == 1


def test_a_stray_whose_partition_has_no_leader_may_be_needed(start_node: StartNode) -> None:
    node = start_node()
    topic_id = node.create_topic("orders")
    image = node.broker.cluster.image
    stray = StrayDirectory("/data/x", TopicPartition("orders", 0), topic_id, 0)
    assert not may_be_needed(image, stray)
    registration = image.topics.by_name["orders"].partitions[0]
    image.topics.by_name["orders"].partitions[0] = registration._replace(leader=-1)
    assert may_be_needed(image, stray)
    assert may_be_needed(image, stray._replace(topic_id=None))
    assert not may_be_needed(image, stray._replace(partition=TopicPartition("orders", 7)))
