"""CreatePartitions: topics that grow."""

import pytest

from ottla.controller.operations.create_partitions import create_partitions
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.support.controller.cluster_images import (
    applied,
    broker,
    context,
    features,
    image_of,
    one_broker,
    topic,
)


def three_brokers() -> MetadataImage:
    return image_of(
        features(), broker(1), broker(2), broker(3, fenced=True), topic("orders", [1, 2], [2, 1])
    )


def new_partitions(
    count: int, *assignments: list[int], name: str = "orders"
) -> CreatePartitionsTopic:
    wanted = [CreatePartitionsAssignment(broker_ids=broker_ids) for broker_ids in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=wanted or None)


def grow(
    *topics: CreatePartitionsTopic, validate_only: bool = False
) -> tuple[MetadataImage, list[tuple[ErrorCode, str]]]:
    request = CreatePartitionsRequest(topics=list(topics), validate_only=validate_only)
    records, response = create_partitions(three_brokers(), request, context())
    answers = [
        (ErrorCode(result.error_code), result.error_message or "") for result in response.results
    ]
    return applied(three_brokers(), records), answers


def test_new_partitions_follow_the_old_with_as_many_replicas() -> None:
    image, answers = grow(new_partitions(5))
    assert answers == [(ErrorCode.NONE, "")]
    partitions = image.topics.by_name["orders"].partitions
    assert list(partitions) == [0, 1, 2, 3, 4]
    for partition_id in (2, 3, 4):
        assert len(set(partitions[partition_id].replicas)) == 2
        assert partitions[partition_id].leader in (1, 2)


def test_new_partitions_can_be_assigned() -> None:
    image, _ = grow(new_partitions(4, [2, 3], [3, 1]))
    partitions = image.topics.by_name["orders"].partitions
    assert (partitions[2].replicas, partitions[2].isr) == ((2, 3), (2,))
    assert (partitions[3].replicas, partitions[3].leader) == ((3, 1), 1)


def test_validating_only_writes_nothing() -> None:
    image, answers = grow(new_partitions(3), validate_only=True)
    assert answers == [(ErrorCode.NONE, "")]
    assert image == three_brokers()


@pytest.mark.parametrize(
    ("wanted", "code", "message"),
    [
        (new_partitions(3, name="unknown"), "UNKNOWN_TOPIC_OR_PARTITION", "does not host"),
        (new_partitions(2), "INVALID_PARTITIONS", "Topic already has 2 partition(s)."),
        (new_partitions(1), "INVALID_PARTITIONS", "1 would not be an increase"),
        (new_partitions(4, [1, 2]), "INVALID_REPLICA_ASSIGNMENT", "Attempted to add 2 additional"),
        (new_partitions(3, [1]), "INVALID_REPLICA_ASSIGNMENT", "not consistent with previous"),
        (new_partitions(3, [1, 7]), "INVALID_REPLICA_ASSIGNMENT", "no such broker is registered"),
        (new_partitions(2**31 - 1), "POLICY_VIOLATION", "Excessively large"),
    ],
)
def test_growth_that_cannot_be(wanted: CreatePartitionsTopic, code: str, message: str) -> None:
    image, [(found, reason)] = grow(wanted)
    assert found.name == code
    assert message in reason
    assert image == three_brokers()


def test_topic_named_twice_does_not_grow() -> None:
    image, answers = grow(new_partitions(3), new_partitions(4))
    assert [code for code, _ in answers] == [ErrorCode.INVALID_REQUEST]
    assert image == three_brokers()


@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state"])
def test_topics_of_coordinators_keep_their_number_of_partitions(name: str) -> None:
    request = CreatePartitionsRequest(topics=[new_partitions(3, name=name)])
    records, response = create_partitions(one_broker(topic(name, [1])), request, context())
    assert not records
    (result,) = response.results
    assert result.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert name in (result.error_message or "")
