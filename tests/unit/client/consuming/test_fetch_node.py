"""Requests of one node's fetch session (KIP-227)."""

from __future__ import annotations

from typing import Any

from ottla.client.consuming.assigned_partition import AssignedPartition
from ottla.client.consuming.fetch_node import FetchNode
from ottla.client.consuming.properties import CONSUMER, consumer_settings
from ottla.client.consuming.record_queue import ReadPosition
from ottla.client.settings import parse_properties
from ottla.model import ZERO_UUID, ErrorCode, TopicPartition, Uuid
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

TOPIC_ID = Uuid(b"0123456789abcdef")


def node() -> FetchNode:
    parsed = parse_properties(CONSUMER, {"bootstrap.servers": "localhost:1"}, {})
    return FetchNode(1, consumer_settings(parsed))


def partitions(count: int, offset: int = 0) -> list[tuple[AssignedPartition, Uuid]]:
    found = []
    for index in range(count):
        partition = AssignedPartition(TopicPartition("t", index))
        partition.seek(ReadPosition(offset))
        partition.validated(0)
        found.append((partition, TOPIC_ID))
    return found


def indexes(topics: Any) -> list[int]:
    return [
        each if isinstance(each, int) else each.partition
        for topic in topics
        for each in topic.partitions
    ]


def ask(node: FetchNode, wanted: list[tuple[AssignedPartition, Uuid]]) -> FetchRequest:
    return node.request(wanted, bytes_max=1_000, is_short=False)


def opened(node: FetchNode, wanted: list[tuple[AssignedPartition, Uuid]]) -> None:
    ask(node, wanted)
    assert node.answers(FetchResponse(session_id=9)) == []


def test_the_first_request_names_every_partition_and_later_ones_only_changes() -> None:
    session = node()
    wanted = partitions(3)
    first = ask(session, wanted)
    assert (first.session_id, first.session_epoch, indexes(first.topics)) == (0, 0, [0, 1, 2])
    session.answers(FetchResponse(session_id=9))

    wanted[1][0].fetch_position = ReadPosition(5)
    second = ask(session, wanted)
    assert (second.session_id, second.session_epoch, indexes(second.topics)) == (9, 1, [1])


def test_a_partition_that_has_enough_is_forgotten_and_named_again_later() -> None:
    session = node()
    wanted = partitions(2)
    opened(session, wanted)

    without = ask(session, wanted[:1])
    assert indexes(without.forgotten_topics_data) == [1]
    session.answers(FetchResponse(session_id=9))
    assert indexes(ask(session, wanted).topics) == [1]


def test_a_session_that_the_node_has_dropped_begins_again_with_everything() -> None:
    session = node()
    wanted = partitions(2)
    opened(session, wanted)
    ask(session, wanted)
    dropped = FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert session.answers(dropped) is None

    again = ask(session, wanted)
    assert (again.session_epoch, indexes(again.topics)) == (0, [0, 1])


def test_a_lost_connection_begins_a_new_session() -> None:
    session = node()
    wanted = partitions(2)
    opened(session, wanted)
    ask(session, wanted)
    session.lost()
    assert indexes(ask(session, wanted).topics) == [0, 1]


def test_answers_are_matched_by_topic_id_and_others_are_ignored() -> None:
    session = node()
    wanted = partitions(1, offset=5)
    ask(session, wanted)
    answers = session.answers(
        FetchResponse(
            responses=[
                FetchableTopicResponse(
                    topic_id=TOPIC_ID,
                    partitions=[PartitionData(partition_index=index) for index in (0, 7)],
                )
            ]
        )
    )
    assert answers is not None
    assert [(asked.partition.name.partition, asked.position.offset) for asked, _ in answers] == [
        (0, 5)
    ]


def test_topics_without_ids_are_asked_for_by_name() -> None:
    session = node()
    wanted = [(each, ZERO_UUID) for each, _ in partitions(2)]
    request = ask(session, wanted)
    assert [topic.topic for topic in request.topics] == ["t"]
    assert session.version_max == 12
    answers = session.answers(
        FetchResponse(
            responses=[
                FetchableTopicResponse(topic="t", partitions=[PartitionData(partition_index=1)])
            ]
        )
    )
    assert answers is not None
    assert [asked.partition.name.partition for asked, _ in answers] == [1]
