"""What a node does with the logs of deleted topics, running and at its start."""

from __future__ import annotations

import asyncio
import errno
import json

import pytest

from ottla.broker.chores.deleted_space import DeletedSpace
from ottla.configs import ConfigResourceType
from ottla.metadata.partition import LOST_DIRECTORY
from ottla.model import ErrorCode, TopicPartition, Uuid, uuid_to_text
from ottla.runtime.background import InlineBackground
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.simulation.disk.disk_faults import Operation
from ottla.storage.directories.partition_metadata import write_partition_metadata
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.security.acls import ALICE, acl, rights_of
from tests.support.storage.batches import batch_of

DAY = {"ottla.delete.retention.ms": "86400000"}
TOPIC = "orders"


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    node = start_node(configs=DAY)
    node.create_topic(TOPIC, partitions=2)
    for index in range(2):
        node.append(TOPIC, batch_of(b"value"), batch_of(b"another"), index=index)
    return node


def delete(node: OneNode, name: str = TOPIC) -> int:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)])
    code: int = node.send_request(request, 6).responses[0].error_code
    return code


def undelete(node: OneNode, topic_id: Uuid, name: str = TOPIC) -> CreatableTopicResult:
    config = CreatableTopicConfig(name="ottla.undelete", value=uuid_to_text(topic_id))
    topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, configs=[config])
    result: CreatableTopicResult = node.send_request(CreateTopicsRequest(topics=[topic]), 7).topics[
        0
    ]
    return result


def only_deleted(node: OneNode) -> Uuid:
    (topic,) = node.image.deleted_topics
    return topic.id


def end_offsets(node: OneNode, topic: str = TOPIC) -> list[int]:
    return [node.log(topic, index).log_end_offset for index in range(2)]


def test_logs_are_set_aside_and_come_back(node: OneNode) -> None:
    assert delete(node) == 0
    assert not list(node.broker.partitions)
    assert sorted(name.partition(".")[0] for name in node.names()) == ["orders-0", "orders-1"]
    assert all(name.endswith("-delete") for name in node.names())

    assert undelete(node, only_deleted(node)).error_code == 0

    assert sorted(node.names()) == ["orders-0", "orders-1"]
    assert end_offsets(node) == [2, 2]
    node.append(TOPIC, batch_of(b"more"))
    assert end_offsets(node) == [3, 2]


@pytest.mark.parametrize("is_clean", [False, True])
@pytest.mark.parametrize("name", [TOPIC, "renamed"])
def test_a_restart_keeps_what_may_be_restored(
    node: OneNode, start_node: StartNode, name: str, is_clean: bool
) -> None:
    delete(node)
    if is_clean:
        node.stop()
    disk = node.disk if is_clean else node.crash()
    node = start_node(disk, configs=DAY)
    assert len(node.names()) == 2

    undelete(node, only_deleted(node), name)

    assert end_offsets(node, name) == [2, 2]


def test_a_node_that_was_away_sets_aside_what_was_deleted(
    node: OneNode, start_node: StartNode
) -> None:
    delete(node)
    topic_id = only_deleted(node)
    disk = node.crash()
    # As if the deletion had come while the node was away.
    for index in range(2):
        disk.rename(f"/data/orders-{index}.{topic_id.hex()}-delete", f"/data/orders-{index}")
    node = start_node(disk, configs=DAY)
    assert all(name.endswith(f".{topic_id.hex()}-delete") for name in node.names())

    undelete(node, topic_id)

    assert end_offsets(node) == [2, 2]


def test_a_node_that_was_away_renames_what_has_another_name_now(
    node: OneNode, start_node: StartNode
) -> None:
    delete(node)
    undelete(node, only_deleted(node), "renamed")
    disk = node.crash()
    for index in range(2):
        disk.rename(f"/data/renamed-{index}", f"/data/orders-{index}")

    node = start_node(disk, configs=DAY)

    assert sorted(node.names()) == ["renamed-0", "renamed-1"]
    assert end_offsets(node, "renamed") == [2, 2]


def test_a_purged_topic_is_gone_at_once_and_after_a_restart(
    node: OneNode, start_node: StartNode
) -> None:
    delete(node)
    (topic,) = node.image.deleted_topics
    assert delete(node, topic.resource_name) == 0
    assert node.names() == []
    assert delete(node, topic.resource_name) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    disk = node.crash()
    disk.make_directories(f"/data/orders-0.{topic.id.hex()}-delete")
    write_partition_metadata(disk, f"/data/orders-0.{topic.id.hex()}-delete", topic.id)

    node = start_node(disk, configs=DAY)

    assert node.names() == []


def test_a_topic_of_the_same_name_is_another_one(node: OneNode) -> None:
    delete(node)
    first = only_deleted(node)
    node.create_topic(TOPIC, partitions=2)
    assert end_offsets(node) == [0, 0]
    assert undelete(node, first).error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert undelete(node, first, "renamed").error_code == 0
    assert end_offsets(node, "renamed") == [2, 2]
    assert end_offsets(node) == [0, 0]


def test_deleted_topics_are_listed_as_the_configs_of_a_name_that_no_topic_has(
    node: OneNode,
) -> None:
    node.create_topic("other")
    for name in (TOPIC, "other"):
        delete(node, name)

    def listed(resource: str) -> dict[str, int]:
        wanted = DescribeConfigsResource(
            resource_type=ConfigResourceType.TOPIC, resource_name=resource
        )
        response = node.send_request(DescribeConfigsRequest(resources=[wanted]), 4)
        (result,) = response.results
        assert result.error_code == 0
        return {
            each.name.partition("~")[0]: json.loads(each.value)["partitions"]
            for each in result.configs
        }

    assert listed("~") == {"orders": 2, "other": 1}
    assert listed("ord~") == {"ers": 2}
    assert listed("nothing~") == {}


def test_log_directories_show_what_deleted_topics_take(node: OneNode) -> None:
    delete(node)
    (topic,) = node.image.deleted_topics
    (directory,) = node.send_request(DescribeLogDirsRequest(topics=None), 5).results
    (shown,) = (each for each in directory.topics if each.name == topic.resource_name)
    assert [each.partition_index for each in shown.partitions] == [0, 1]
    assert all(each.partition_size > 100 for each in shown.partitions)


def free_space(node: OneNode) -> None:
    broker = node.broker
    space = DeletedSpace(
        broker.cluster, broker.logs, broker.failures, broker.changes, InlineBackground()
    )
    node.run(space.free())


def test_the_topics_that_were_deleted_first_are_purged_when_a_disk_is_full(node: OneNode) -> None:
    node.create_topic("other")
    for name in (TOPIC, "other"):
        delete(node, name)
        node.clock.advance(1)
    free_space(node)
    assert len(node.image.deleted_topics) == 2

    full = OSError(errno.ENOSPC, "No space left on device")
    failure = node.broker.failures.directory_failed("/data", full, is_replicated=True)
    assert "deleted topics are purged" in (failure.message or "")
    assert not node.broker.logs.failed
    free_space(node)

    assert [topic.name for topic in node.image.deleted_topics] == ["other"]
    free_space(node)
    assert [topic.name for topic in node.image.deleted_topics] == ["other"]


def test_deleted_topics_are_purged_beyond_the_limits_of_a_directory(
    start_node: StartNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = start_node(configs={**DAY, "ottla.delete.retention.bytes": "1000"})
    for name in ("a", "b"):
        node.create_topic(name)
        node.append(name, *(batch_of(bytes(100)) for _ in range(4)))
        delete(node, name)
        node.clock.advance(1)
    free_space(node)
    assert [topic.name for topic in node.image.deleted_topics] == ["b"]

    used = node.disk.space_total("/data")
    monkeypatch.setattr(type(node.disk), "space_left", lambda _disk, _path: used // 25)
    free_space(node)
    assert not node.image.deleted_topics.by_id


def test_no_other_topic_is_purged_before_the_files_of_the_last_one_are_removed(
    start_node: StartNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = start_node(configs=DAY)
    for name in ("a", "b", "c"):
        node.create_topic(name)
        delete(node, name)
        node.clock.advance(1)
    total = node.disk.space_total("/data")

    def space_left(_disk: object, _path: str) -> int:
        is_purged = not any(name.startswith("a-0") for name in node.names())
        return total // 2 if is_purged else total // 50

    monkeypatch.setattr(type(node.disk), "space_left", space_left)
    for _ in range(2):
        free_space(node)
        assert [topic.name for topic in node.image.deleted_topics] == ["b", "c"]


def test_a_log_that_cannot_be_opened_is_offline_and_is_not_lost(node: OneNode) -> None:
    node.log(TOPIC).flush()
    delete(node)
    topic_id = only_deleted(node)
    path = f"/data/orders-0.{topic_id.hex()}-delete"
    (log,) = (name for name in node.disk.list_directory(path) if name.endswith(".log"))
    node.disk.flip_bit(f"{path}/{log}", position=70, bit=0)

    assert undelete(node, topic_id).error_code == 0

    assert node.broker.partitions.by_name(TOPIC, 0).log is None
    assert node.log(TOPIC, 1).log_end_offset == 2
    assert "orders-0" in node.names()
    assert TopicPartition(TOPIC, 0) in node.broker.logs.directories[0].offline


@pytest.mark.parametrize(
    ("path", "operation"),
    [("orders-0/deleted-offsets", Operation.WRITE), ("orders-0", Operation.NAMES)],
)
def test_a_new_topic_has_no_records_of_one_that_was_deleted_while_the_disk_was_full(
    node: OneNode, start_node: StartNode, path: str, operation: Operation
) -> None:
    node.disk.faults.fail(f"/data/{path}", operation, error=errno.ENOSPC)
    assert delete(node) == 0
    first = only_deleted(node)
    node.disk.faults.heal(f"/data/{path}")

    node.create_topic(TOPIC, partitions=2)

    assert end_offsets(node) == [0, 0]
    if operation is Operation.WRITE:
        assert undelete(node, first, "renamed").error_code == 0
        assert end_offsets(node, "renamed") == [2, 2]


def test_a_replica_whose_log_is_gone_is_offline_and_not_empty(
    node: OneNode, start_node: StartNode
) -> None:
    delete(node)
    disk = node.crash()
    # As an older version does, or Apache Kafka.
    for name in disk.list_directory("/data"):
        if name.startswith("orders-0.") and name.endswith("-delete"):
            for file in disk.list_directory(f"/data/{name}"):
                disk.remove(f"/data/{name}/{file}")
            disk.remove_directory(f"/data/{name}")
    node = start_node(disk, configs=DAY)

    assert undelete(node, only_deleted(node)).error_code == 0

    for _ in range(2):
        assert node.broker.partitions.by_name(TOPIC, 0).log is None
        assert node.log(TOPIC, 1).log_end_offset == 2
        registration = node.image.topics.by_name[TOPIC].partitions[0]
        assert registration.directories == (LOST_DIRECTORY,)
        node = start_node(node.crash(), configs=DAY)


def test_a_topic_that_was_deleted_before_its_logs_were_created_can_be_restored(
    start_node: StartNode,
) -> None:
    node = start_node(configs=DAY)
    topic = CreatableTopic(name=TOPIC, num_partitions=2, replication_factor=1)
    creating = CreateTopicsRequest(topics=[topic])
    deleting = DeleteTopicsRequest(topics=[DeleteTopicState(name=TOPIC)])

    async def both() -> None:
        await asyncio.gather(node.answer(creating, 7), node.answer(deleting, 6))

    node.run(both())

    assert undelete(node, only_deleted(node)).error_code == 0
    assert end_offsets(node) == [0, 0]


def test_only_what_a_client_may_describe_is_listed(node: OneNode) -> None:
    delete(node)
    wanted = DescribeConfigsResource(resource_type=ConfigResourceType.TOPIC, resource_name="~")
    request = DescribeConfigsRequest(resources=[wanted])
    for bindings, count in (
        ((), 0),
        ((acl(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, TOPIC),), 1),
    ):
        (result,) = node.send_request(request, 4, rights=rights_of(ALICE, *bindings)).results
        assert (result.error_code, len(result.configs)) == (0, count)
