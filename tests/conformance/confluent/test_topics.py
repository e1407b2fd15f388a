"""Topics through librdkafka's admin client."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from ottla.model import ErrorCode
from tests.conformance.clients import EARLIEST, Client, Message, RefusedError
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode


def test_topics_are_created_listed_described_and_deleted(
    admin: AdminClient, topics: Topics
) -> None:
    topic = topics.create(partitions=3)

    listed = admin.list_topics(timeout=10).topics[topic]
    assert sorted(listed.partitions) == [0, 1, 2]
    assert {each.leader for each in listed.partitions.values()} == {1}
    described = admin.describe_topics(TopicCollection([topic]), include_authorized_operations=True)[
        topic
    ].result()
    assert [each.id for each in described.partitions] == [0, 1, 2]
    assert [[node.id for node in each.isr] for each in described.partitions] == [[1]] * 3
    assert described.authorized_operations
    admin.delete_topics([topic])[topic].result()

    assert topic not in admin.list_topics(timeout=10).topics
    with pytest.raises(KafkaException, match="UNKNOWN_TOPIC_OR_PART"):
        admin.describe_topics(TopicCollection([topic]))[topic].result()


def test_a_topic_of_the_same_name_is_another_topic(admin: AdminClient, topics: Topics) -> None:
    topic = topics.create()
    first = admin.describe_topics(TopicCollection([topic]))[topic].result().topic_id
    admin.delete_topics([topic])[topic].result()
    admin.create_topics([NewTopic(topic, 1)])[topic].result()

    assert admin.describe_topics(TopicCollection([topic]))[topic].result().topic_id != first


def test_a_topic_grows(admin: AdminClient, topics: Topics, writer: Client) -> None:
    topic = topics.create()
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result()

    writer.produce(topic, [Message(b"new", partition=2)])

    assert len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == 3
    assert [record.value for record in writer.consume({(topic, 2): EARLIEST}, 1)] == [b"new"]


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (NewTopic("no/slashes", 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (NewTopic("wrong", 1, replication_factor=2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (NewTopic("wrong", 1, config={"retention.ms": "soon"}), ErrorCode.INVALID_CONFIG),
        (NewTopic("wrong", 1, config={"no.such.config": "1"}), ErrorCode.INVALID_CONFIG),
    ],
)
def test_a_wrong_topic_is_refused_with_a_reason(
    admin: AdminClient, new: NewTopic, error: ErrorCode
) -> None:
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([new])[new.topic].result()
    assert refused.value.args[0].code() == error
    assert refused.value.args[0].str()


def test_a_topic_that_exists_is_not_created_again(admin: AdminClient, topics: Topics) -> None:
    topic = topics.create()
    with pytest.raises(KafkaException, match="TOPIC_ALREADY_EXISTS"):
        admin.create_topics([NewTopic(topic, 1)])[topic].result()


def test_a_topic_can_be_validated_without_being_created(admin: AdminClient, topics: Topics) -> None:
    topic = topics.name()
    admin.create_topics([NewTopic(topic, 1)], validate_only=True)[topic].result()
    assert topic not in admin.list_topics(timeout=10).topics


def test_a_topic_does_not_shrink(admin: AdminClient, topics: Topics) -> None:
    topic = topics.create(partitions=2)
    with pytest.raises(KafkaException, match="INVALID_PARTITIONS"):
        admin.create_partitions([NewPartitions(topic, 1)])[topic].result()


def test_topics_are_created_by_produce_requests(writer: Client, topics: Topics) -> None:
    topic = topics.name()
    writer.produce(topic, [Message(b"first")])
    assert [record.value for record in writer.consume({(topic, 0): EARLIEST}, 1)] == [b"first"]


def test_topics_are_not_made_where_that_is_switched_off(strict_node: RunningNode) -> None:
    client = ConfluentClient(strict_node.bootstrap)
    with pytest.raises(RefusedError) as refused:
        # It waits that long for the topic to appear.
        client.produce("nowhere", [Message(b"lost")], topic_metadata_propagation_max_ms=0)
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_that_is_not_there_is_an_error(strict_node: RunningNode) -> None:
    consumer = ConfluentClient(strict_node.bootstrap).consumer()
    error = consumer.list_topics("nowhere", timeout=10).topics["nowhere"].error
    consumer.close()
    assert error.name() == "UNKNOWN_TOPIC_OR_PART"


def test_the_cluster_describes_itself(admin: AdminClient, node: RunningNode) -> None:
    described = admin.describe_cluster(include_authorized_operations=True).result()
    host, port = node.bootstrap.split(":")
    assert [(each.id, each.host, each.port) for each in described.nodes] == [(1, host, int(port))]
    assert described.controller.id == 1
    assert described.cluster_id == admin.cluster_id(timeout=10)
    assert described.authorized_operations
