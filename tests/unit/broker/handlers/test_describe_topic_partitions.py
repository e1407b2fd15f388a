from __future__ import annotations

from ottla.broker.administration.authorized_operations import TOPIC_OPERATIONS
from ottla.model import ErrorCode
from ottla.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from tests.support.nodes.one_node import NODE_ID, OneNode, StartNode


def describe(
    node: OneNode, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> DescribeTopicPartitionsResponse:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    response: DescribeTopicPartitionsResponse = node.send_request(request, 0)
    return response


def shown(response: DescribeTopicPartitionsResponse) -> dict[str | None, list[int]]:
    return {
        topic.name: [each.partition_index for each in topic.partitions] for topic in response.topics
    }


def test_topics_come_in_the_order_of_their_names(node: OneNode) -> None:
    for name in ("payments", "orders"):
        node.create_topic(name)

    response = describe(node, "payments", "orders")

    assert list(shown(response)) == ["orders", "payments"]
    assert response.next_cursor is None
    (partition,) = response.topics[0].partitions
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (
        NODE_ID,
        [NODE_ID],
        [NODE_ID],
    )
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])
    assert response.topics[0].topic_authorized_operations == TOPIC_OPERATIONS


def test_pages_lead_through_all_partitions(node: OneNode) -> None:
    for name in ("orders", "payments", "users"):
        node.create_topic(name, partitions=3)

    pages, cursor = [], None
    while True:
        response = describe(node, limit=4, cursor=cursor)
        pages.append(shown(response))
        if response.next_cursor is None:
            break
        cursor = (response.next_cursor.topic_name, response.next_cursor.partition_index)

    assert pages == [
        {"orders": [0, 1, 2], "payments": [0]},
        {"payments": [1, 2], "users": [0, 1]},
        {"users": [2]},
    ]


def test_a_page_that_ends_with_a_topic_points_at_the_next_one(node: OneNode) -> None:
    for name in ("orders", "payments"):
        node.create_topic(name, partitions=2)

    cursor = describe(node, limit=2).next_cursor

    assert cursor == Cursor(topic_name="payments", partition_index=0)


def test_the_broker_limits_pages_too(start_node: StartNode) -> None:
    node = start_node(configs={"max.request.partition.size.limit": "2"})
    node.create_topic("orders", partitions=3)

    response = describe(node, "orders")

    assert shown(response) == {"orders": [0, 1]}


def test_a_page_has_one_partition_at_least(node: OneNode) -> None:
    node.create_topic("orders", partitions=3)

    assert shown(describe(node, "orders", limit=0)) == {"orders": [0]}


def test_unknown_topics_have_an_error_each(node: OneNode) -> None:
    impossible, unknown = describe(node, "unknown", "no/topic").topics

    assert impossible.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_cursor_outside_of_the_requested_topics_is_refused(node: OneNode) -> None:
    node.create_topic("orders")

    for cursor in (("payments", 0), ("orders", -1)):
        (topic,) = describe(node, "orders", cursor=cursor).topics
        assert topic.error_code == ErrorCode.INVALID_REQUEST


def test_a_cursor_at_a_topic_that_is_gone_goes_on_with_the_next(node: OneNode) -> None:
    node.create_topic("users")

    assert shown(describe(node, cursor=("payments", 7))) == {"users": [0]}
