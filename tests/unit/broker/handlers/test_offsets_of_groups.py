"""OffsetCommit, OffsetFetch and OffsetDelete in all their versions."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.model import ZERO_UUID, ErrorCode, Uuid, uuid_to_text
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.support.nodes.one_node import OneNode, StartNode

GROUP = "group"
SMALL = {"offsets.topic.num.partitions": "3"}


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    node = start_node(configs=SMALL)
    node.create_topic("t", partitions=2)
    node.broker.metadata.listen(node.broker.coordinators.apply)
    node.send_request(FindCoordinatorRequest(coordinator_keys=[GROUP]), 6)
    return node


def commit(
    node: OneNode, version: int, offsets: dict[int, int], topic_id: Uuid | None = None
) -> dict[int, int]:
    """Errors, by partition."""
    if topic_id is None:
        topic_id = node.image.topics.by_name["t"].id if version >= 10 else ZERO_UUID
    topic = OffsetCommitRequestTopic(
        name="t",
        topic_id=topic_id,
        partitions=[
            OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
            for index, offset in offsets.items()
        ],
    )
    response = node.send_request(OffsetCommitRequest(group_id=GROUP, topics=[topic]), version)
    return {
        each.partition_index: each.error_code
        for found in response.topics
        for each in found.partitions
    }


def offsets(topics: Any) -> dict[int, int]:
    return {
        each.partition_index: each.committed_offset for topic in topics for each in topic.partitions
    }


@pytest.mark.parametrize("version", range(2, 11))
def test_offsets_are_committed_in_every_version(node: OneNode, version: int) -> None:
    assert commit(node, version, {0: 4, 1: 5}) == {0: 0, 1: 0}
    found = node.send_request(OffsetFetchRequest(group_id=GROUP, topics=None), 5)
    assert offsets(found.topics) == {0: 4, 1: 5}


@pytest.mark.parametrize("version", range(2, 10))
def test_partitions_that_there_are_not_are_refused_one_by_one(node: OneNode, version: int) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(node, version, {0: 4, 7: 5}) == {0: 0, 7: unknown}
    assert commit(node, version, {7: 5}) == {7: unknown}


def test_a_topic_id_that_there_is_not_is_refused(node: OneNode) -> None:
    assert commit(node, 10, {0: 4}, Uuid(b"x" * 16)) == {0: ErrorCode.UNKNOWN_TOPIC_ID}


@pytest.mark.parametrize("version", range(1, 8))
def test_offsets_of_one_group_are_fetched(node: OneNode, version: int) -> None:
    commit(node, 9, {1: 5})
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])
    found = node.send_request(OffsetFetchRequest(group_id=GROUP, topics=[topic]), version)
    assert found.error_code == 0
    assert offsets(found.topics) == {0: -1, 1: 5}


@pytest.mark.parametrize("version", [8, 9, 10])
def test_offsets_of_several_groups_are_fetched(node: OneNode, version: int) -> None:
    commit(node, 9, {1: 5})
    topic_id = node.image.topics.by_name["t"].id
    topic = OffsetFetchRequestTopics(name="t", topic_id=topic_id, partition_indexes=[0, 1])
    request = OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(group_id=GROUP, topics=[topic]),
            OffsetFetchRequestGroup(group_id="other", topics=[topic]),
            OffsetFetchRequestGroup(group_id=GROUP, topics=None),
        ]
    )
    some, other, everything = node.send_request(request, version).groups
    assert (some.group_id, other.group_id) == (GROUP, "other")
    assert offsets(some.topics) == {0: -1, 1: 5}
    assert offsets(other.topics) == {0: -1, 1: -1}
    assert offsets(everything.topics) == {1: 5}
    if version >= 10:
        assert everything.topics[0].topic_id == topic_id


def test_a_topic_id_that_there_is_not_is_an_error_of_its_own(node: OneNode) -> None:
    topic = OffsetFetchRequestTopics(topic_id=Uuid(b"x" * 16), partition_indexes=[0])
    group = OffsetFetchRequestGroup(group_id=GROUP, topics=[topic])
    (found,) = node.send_request(OffsetFetchRequest(groups=[group]), 10).groups
    (answer,) = found.topics[0].partitions
    assert (found.error_code, answer.error_code) == (0, ErrorCode.UNKNOWN_TOPIC_ID)


def test_there_is_no_coordinator_before_there_is_a_topic(start_node: StartNode) -> None:
    node = start_node(configs=SMALL)
    node.create_topic("t", partitions=2)
    assert commit(node, 9, {0: 1}) == {0: ErrorCode.NOT_COORDINATOR}
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0])
    request = OffsetFetchRequest(group_id=GROUP, topics=[topic])
    in_partition = node.send_request(request, 1)
    assert in_partition.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
    assert node.send_request(request, 2).error_code == ErrorCode.NOT_COORDINATOR


def test_offsets_are_deleted(node: OneNode) -> None:
    commit(node, 9, {0: 4, 1: 5})
    topic = OffsetDeleteRequestTopic(
        name="t",
        partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in (0, 7)],
    )
    response = node.send_request(OffsetDeleteRequest(group_id=GROUP, topics=[topic]), 0)
    errors = {
        each.partition_index: each.error_code
        for found in response.topics
        for each in found.partitions
    }
    assert errors == {0: 0, 7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    found = node.send_request(OffsetFetchRequest(group_id=GROUP, topics=None), 5)
    assert offsets(found.topics) == {1: 5}
    assert node.send_request(OffsetDeleteRequest(), 0).error_code == ErrorCode.INVALID_GROUP_ID


def test_offsets_go_with_their_topic(node: OneNode) -> None:
    commit(node, 9, {0: 4})
    node.send_request(DeleteTopicsRequest(topics=[DeleteTopicState(name="t")]), 6)
    assert node.send_request(OffsetFetchRequest(group_id=GROUP, topics=None), 5).topics == []


def undelete(node: OneNode, topic_id: Uuid, name: str = "t") -> int:
    config = CreatableTopicConfig(name="ottla.undelete", value=uuid_to_text(topic_id))
    topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, configs=[config])
    code: int = node.send_request(CreateTopicsRequest(topics=[topic]), 7).topics[0].error_code
    return code


def test_offsets_stay_as_long_as_their_topic_can_be_restored(start_node: StartNode) -> None:
    node = start_node(configs={**SMALL, "ottla.delete.retention.ms": "60000"})
    topic_id = node.create_topic("t", partitions=2)
    node.broker.metadata.listen(node.broker.coordinators.apply)
    node.send_request(FindCoordinatorRequest(coordinator_keys=[GROUP]), 6)

    def delete(name: str) -> None:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)])
        assert node.send_request(request, 6).responses[0].error_code == 0

    def committed() -> dict[int, int]:
        found = node.send_request(OffsetFetchRequest(group_id=GROUP, topics=None), 5).topics
        return offsets(found) if found else {}

    commit(node, 9, {0: 4})
    delete("t")
    assert undelete(node, topic_id) == 0
    assert committed() == {0: 4}

    # A new topic of this name has no offsets, nor has the old one afterwards.
    delete("t")
    node.create_topic("t", partitions=2)
    assert committed() == {}
    commit(node, 9, {1: 2})
    delete(f"t~{uuid_to_text(topic_id)}")
    assert committed() == {1: 2}

    delete("t")
    assert committed() == {1: 2}
    (topic,) = node.image.deleted_topics
    delete(topic.resource_name)
    assert committed() == {}


def test_offsets_are_there_after_a_crash(node: OneNode, start_node: StartNode) -> None:
    commit(node, 9, {0: 4})
    commit(node, 9, {0: 6, 1: 1})
    again = start_node(node.crash(), configs=SMALL)
    found = again.send_request(OffsetFetchRequest(group_id=GROUP, topics=None), 5)
    assert offsets(found.topics) == {0: 6, 1: 1}
