"""CreateTopics: what is created, and what Kafka's controller would refuse."""

import pytest

from ottla.controller.operations.create_topics import create_topics
from ottla.metadata import MetadataImage
from ottla.model import ZERO_UUID, ErrorCode
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from ottla.wire.schema import Message
from tests.support.controller.cluster_images import (
    applied,
    broker,
    context,
    features,
    image_of,
    node_config,
    one_broker,
    topic,
    uuid,
)


def creatable(name: str = "orders", *, partitions: int = 1, replicas: int = 1) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)


def assigned(*assignments: tuple[int, list[int]]) -> CreatableTopic:
    wanted = creatable(partitions=-1, replicas=-1)
    wanted.assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=broker_ids)
        for index, broker_ids in assignments
    ]
    return wanted


def configured(**configs: str | None) -> CreatableTopic:
    wanted = creatable()
    wanted.configs = [
        CreatableTopicConfig(name=name.replace("_", "."), value=value)
        for name, value in configs.items()
    ]
    return wanted


def create(
    image: MetadataImage, *topics: CreatableTopic, **properties: str
) -> tuple[list[Message], list[CreatableTopicResult]]:
    request = CreateTopicsRequest(topics=list(topics))
    records, response = create_topics(image, request, context(node_config(**properties)))
    return records, response.topics


def refusal(image: MetadataImage, wanted: CreatableTopic) -> tuple[ErrorCode, str | None]:
    records, (result,) = create(image, wanted)
    assert not records
    assert result.topic_id == ZERO_UUID
    assert result.name == wanted.name
    return ErrorCode(result.error_code), result.error_message


def test_topic_has_partitions_leaders_and_the_brokers_directory() -> None:
    image = one_broker()
    records, (result,) = create(image, creatable(partitions=3))
    created = applied(image, records).topics.by_name["orders"]
    assert created.id == result.topic_id != ZERO_UUID
    assert len(created.partitions) == result.num_partitions == 3
    assert result.replication_factor == 1
    assert (result.error_code, result.error_message) == (0, None)
    for partition in created.partitions.values():
        assert partition.replicas == partition.isr == (1,)
        assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (1, 0, 0)
        assert partition.directories == (uuid(501),)


def test_records_come_in_kafkas_order() -> None:
    records, _ = create(one_broker(), configured(segment_ms="1000", min_insync_replicas="1"))
    assert [type(record).__name__ for record in records] == [
        "TopicRecord",
        "ConfigRecord",
        "ConfigRecord",
        "ClearElrRecord",
        "PartitionRecord",
    ]


def test_defaults_are_the_brokers() -> None:
    image = image_of(features(), broker(1), broker(2), broker(3))
    _, (result,) = create(
        image,
        creatable(partitions=-1, replicas=-1),
        num_partitions="4",
        default_replication_factor="2",
    )
    assert (result.num_partitions, result.replication_factor) == (4, 2)


def test_response_shows_effective_configs_with_their_sources() -> None:
    _, (result,) = create(one_broker(), configured(segment_ms="1000"), log_retention_ms="5000")
    assert result.configs is not None
    shown = {config.name: config for config in result.configs}
    assert (shown["segment.ms"].value, shown["segment.ms"].config_source) == ("1000", 1)
    assert (shown["retention.ms"].value, shown["retention.ms"].config_source) == ("5000", 4)
    assert (shown["cleanup.policy"].value, shown["cleanup.policy"].config_source) == ("delete", 5)
    assert list(shown) == sorted(shown)


def test_validating_only_answers_the_same_and_writes_nothing() -> None:
    request = CreateTopicsRequest(topics=[creatable(partitions=2)], validate_only=True)
    records, response = create_topics(one_broker(), request, context())
    assert not records
    assert (response.topics[0].error_code, response.topics[0].num_partitions) == (0, 2)


def test_one_refusal_does_not_stop_the_others() -> None:
    image = one_broker(topic("taken", [1]))
    records, results = create(
        image, creatable("a"), creatable("taken"), creatable("b", replicas=9), creatable("c")
    )
    assert {result.name for result in results if not result.error_code} == {"a", "c"}
    assert set(applied(image, records).topics.by_name) == {"taken", "a", "c"}


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("", "INVALID_TOPIC_EXCEPTION", "the empty string is not allowed"),
        (".", "INVALID_TOPIC_EXCEPTION", "'.' is not allowed"),
        ("..", "INVALID_TOPIC_EXCEPTION", "'..' is not allowed"),
        ("a" * 250, "INVALID_TOPIC_EXCEPTION", "longer than the max allowed length 249"),
        ("a b", "INVALID_TOPIC_EXCEPTION", "characters other than ASCII alphanumerics"),
        ("naïve", "INVALID_TOPIC_EXCEPTION", "characters other than ASCII alphanumerics"),
        ("a\n", "INVALID_TOPIC_EXCEPTION", "characters other than ASCII alphanumerics"),
        ("taken", "TOPIC_ALREADY_EXISTS", "Topic 'taken' already exists."),
        ("some.name", "TOPIC_ALREADY_EXISTS", "Topic 'some.name' already exists."),
        ("some_name", "INVALID_TOPIC_EXCEPTION", "collides with existing topic: some.name"),
        ("__cluster_metadata", "INVALID_REQUEST", "Creation of internal topic"),
    ],
)
def test_names_that_a_topic_cannot_have(name: str, code: str, message: str) -> None:
    image = one_broker(topic("taken", [1]), topic("some.name", [1]))
    found, reason = refusal(image, creatable(name))
    assert found.name == code
    assert reason is not None
    assert message in reason


def test_longest_name_is_a_name() -> None:
    _, (result,) = create(one_broker(), creatable("a" * 249))
    assert not result.error_code


def test_name_that_is_requested_twice_is_not_created() -> None:
    records, results = create(one_broker(), creatable("a"), creatable("b"), creatable("a"))
    errors = {result.name: result.error_code for result in results}
    assert errors == {"a": ErrorCode.INVALID_REQUEST, "b": 0}
    assert len(results) == 2
    assert set(applied(one_broker(), records).topics.by_name) == {"b"}


@pytest.mark.parametrize("partitions", [0, -2])
def test_number_of_partitions_is_positive(partitions: int) -> None:
    code, _ = refusal(one_broker(), creatable(partitions=partitions))
    assert code is ErrorCode.INVALID_PARTITIONS


@pytest.mark.parametrize("replicas", [0, -2])
def test_replication_factor_is_positive(replicas: int) -> None:
    code, _ = refusal(one_broker(), creatable(replicas=replicas))
    assert code is ErrorCode.INVALID_REPLICATION_FACTOR


def test_replication_factor_is_bounded_by_the_brokers() -> None:
    code, message = refusal(one_broker(), creatable(replicas=2))
    assert code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert message == (
        "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot "
        "be reached because only 1 broker(s) are registered."
    )


def test_fenced_brokers_lead_nothing() -> None:
    code, message = refusal(image_of(features(), broker(1, fenced=True)), creatable())
    assert code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert message is not None
    assert message.endswith("All brokers are currently fenced.")


def test_more_partitions_than_one_request_may_make_are_refused_before_any_is_made() -> None:
    records, results = create(one_broker(), creatable("a", partitions=2**31 - 1), creatable("b"))
    assert not records
    assert [result.error_code for result in results] == [ErrorCode.POLICY_VIOLATION] * 2


def test_manual_assignment_is_taken_as_given() -> None:
    image = image_of(features(), broker(1), broker(2), broker(3, fenced=True))
    records, (result,) = create(image, assigned((1, [2, 1]), (0, [3, 1])))
    partitions = applied(image, records).topics.by_name["orders"].partitions
    assert partitions[0].replicas == (3, 1)
    assert (partitions[0].isr, partitions[0].leader) == ((1,), 1)
    assert partitions[1].replicas == partitions[1].isr == (2, 1)
    assert (result.num_partitions, result.replication_factor) == (2, 2)


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        ([(0, [1]), (0, [1])], "Found multiple manual partition assignments for partition 0"),
        ([(0, [1]), (2, [1])], "partitions should be a consecutive 0-based integer sequence"),
        ([(0, [])], "includes an empty replica list"),
        ([(0, [9])], "includes broker 9, but no such broker is registered"),
        ([(0, [1, 1])], "includes the broker 1 more than once"),
        ([(0, [1, 2]), (1, [1])], "1 replica(s), but this is not consistent"),
        ([(0, [3])], "are fenced or in controlled shutdown"),
    ],
)
def test_assignments_that_cannot_be(assignments: list[tuple[int, list[int]]], message: str) -> None:
    image = image_of(features(), broker(1), broker(2), broker(3, fenced=True))
    code, reason = refusal(image, assigned(*assignments))
    assert code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert reason is not None
    assert message in reason


@pytest.mark.parametrize(("partitions", "replicas"), [(1, -1), (-1, 1)])
def test_assignment_leaves_counts_unsaid(partitions: int, replicas: int) -> None:
    wanted = assigned((0, [1]))
    wanted.num_partitions, wanted.replication_factor = partitions, replicas
    assert refusal(one_broker(), wanted)[0] is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "wanted",
    [
        configured(segment_ms=None),
        configured(segment_ms="soon"),
        configured(no_such_config="1"),
        configured(min_compaction_lag_ms="2", max_compaction_lag_ms="1"),
        configured(segment_ms="1" * 40_000),
    ],
)
def test_configs_that_a_topic_cannot_have(wanted: CreatableTopic) -> None:
    code, message = refusal(one_broker(), wanted)
    assert code is ErrorCode.INVALID_CONFIG
    assert message


def test_broker_with_several_directories_chooses_for_itself() -> None:
    image = image_of(features(), broker(1, log_dirs=[uuid(1), uuid(2)]))
    records, _ = create(image, creatable())
    partition = applied(image, records).topics.by_name["orders"].partitions[0]
    assert int.from_bytes(partition.directories[0]) == 1


def test_topics_of_coordinators_are_created_compacted_or_not_at_all() -> None:
    for name in ("__consumer_offsets", "__transaction_state"):
        code, message = refusal(one_broker(), creatable(name))
        assert code == ErrorCode.INVALID_CONFIG
        assert message == f"The internal topic {name} has to have cleanup.policy=compact."
        wanted = creatable(name)
        wanted.configs = [CreatableTopicConfig(name="cleanup.policy", value="compact")]
        _, (result,) = create(one_broker(), wanted)
        assert result.error_code == ErrorCode.NONE
