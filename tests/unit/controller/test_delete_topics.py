"""DeleteTopics by name and by id."""

import pytest

from ottla.controller.operations.delete_topics import delete_topics
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, Uuid
from ottla.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from tests.support.controller.cluster_images import (
    applied,
    context,
    node_config,
    one_broker,
    topic,
    uuid,
)


def two_topics() -> MetadataImage:
    return one_broker(topic("a", [1], topic_id=uuid(1)), topic("b", [1], topic_id=uuid(2)))


def by_name(name: str) -> DeleteTopicState:
    return DeleteTopicState(name=name)


def by_id(topic_id: Uuid) -> DeleteTopicState:
    return DeleteTopicState(topic_id=topic_id)


def delete(
    *states: DeleteTopicState, **properties: str
) -> tuple[set[str], list[DeletableTopicResult]]:
    """The topics that are left, and the answer."""
    image = two_topics()
    request = DeleteTopicsRequest(topics=list(states))
    records, response = delete_topics(image, request, context(node_config(**properties)))
    return set(applied(image, records).topics.by_name), response.responses


def codes(results: list[DeletableTopicResult]) -> list[ErrorCode]:
    return [ErrorCode(result.error_code) for result in results]


def test_topics_go_by_name_and_by_id() -> None:
    left, results = delete(by_name("a"), by_id(uuid(2)))
    assert not left
    assert {(result.name, result.topic_id) for result in results} == {
        ("a", uuid(1)),
        ("b", uuid(2)),
    }
    assert codes(results) == [ErrorCode.NONE] * 2


def test_old_versions_send_names() -> None:
    request = DeleteTopicsRequest(topic_names=["a", "unknown"])
    records, response = delete_topics(two_topics(), request, context())
    assert set(applied(two_topics(), records).topics.by_name) == {"b"}
    assert {result.name: result.error_code for result in response.responses} == {
        "a": 0,
        "unknown": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


def test_unknown_topics_have_different_errors_by_name_and_by_id() -> None:
    left, results = delete(by_name("c"), by_id(uuid(9)))
    assert left == {"a", "b"}
    assert {result.name: result.error_code for result in results} == {
        "c": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        None: ErrorCode.UNKNOWN_TOPIC_ID,
    }


def test_topic_named_twice_stays() -> None:
    for states in (
        [by_name("a"), by_name("a")],
        [by_id(uuid(1)), by_id(uuid(1))],
        [by_name("a"), by_id(uuid(1))],
        [by_id(uuid(1)), by_name("a")],
    ):
        left, results = delete(*states)
        assert left == {"a", "b"}
        assert codes(results) == [ErrorCode.INVALID_REQUEST]


def test_topic_is_named_in_one_way() -> None:
    left, results = delete(DeleteTopicState(), DeleteTopicState(name="a", topic_id=uuid(1)))
    assert left == {"a", "b"}
    assert codes(results) == [ErrorCode.INVALID_REQUEST] * 2


def test_deletion_can_be_disabled() -> None:
    left, results = delete(by_name("a"), delete_topic_enable="false")
    assert left == {"a", "b"}
    assert codes(results) == [ErrorCode.TOPIC_DELETION_DISABLED]


@pytest.mark.parametrize(
    "name", ["__consumer_offsets", "__transaction_state", "__share_group_state"]
)
def test_topics_of_coordinators_are_not_deleted(name: str) -> None:
    image = one_broker(topic(name, [1], topic_id=uuid(1)), topic("a", [1], topic_id=uuid(2)))
    for state in (by_name(name), by_id(uuid(1))):
        request = DeleteTopicsRequest(topics=[state, by_name("a")])
        records, response = delete_topics(image, request, context())
        assert sorted(codes(response.responses)) == [0, ErrorCode.INVALID_TOPIC_EXCEPTION]
        assert set(applied(image, records).topics.by_name) == {name}
