"""librdkafka's consumers in groups, of both protocols."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import ConsumerGroupTopicPartitions as GroupOffsets
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType

from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode
from tests.support.nodes.wire_connection import WireConnection

admin, node = groups.admin, groups.node

PARTITIONS = 4
RECORDS = 20
PROTOCOLS = ("classic", "consumer")


@pytest.fixture
def client(node: RunningNode) -> ConfluentClient:
    return ConfluentClient(node.bootstrap)


@pytest.fixture
def topic(client: ConfluentClient, topics: Topics) -> str:
    topic = topics.create(partitions=PARTITIONS)
    produce(client, topic)
    return topic


def produce(client: ConfluentClient, topic: str) -> None:
    client.produce(
        topic, [Message(b"%d" % number, partition=number % PARTITIONS) for number in range(RECORDS)]
    )


def member(client: ConfluentClient, topic: str, protocol: str, **configs: Any) -> Consumer:
    if protocol == "classic":
        configs.setdefault("heartbeat_interval_ms", 300)
    consumer = client.consumer(
        group_id=f"group-of-{topic}",
        auto_offset_reset="earliest",
        group_protocol=protocol,
        **configs,
    )
    consumer.subscribe([topic])
    return consumer


def poll_until(consumers: list[Consumer], condition: Callable[[], bool]) -> list[bytes]:
    """What they received until then."""
    deadline, values = perf_counter() + TIMEOUT_S, []
    while not condition():
        assert perf_counter() < deadline, [consumer.assignment() for consumer in consumers]
        for consumer in consumers:
            values += [message.value() for message in consumer.consume(100, 0.05)]
    return [value for value in values if isinstance(value, bytes)]


def partitions(consumer: Consumer) -> set[int]:
    return {each.partition for each in consumer.assignment()}


def are_spread(*consumers: Consumer) -> bool:
    owned = [partition for each in consumers for partition in partitions(each)]
    share = PARTITIONS // len(consumers)
    return sorted(owned) == list(range(PARTITIONS)) and all(
        len(partitions(each)) == share for each in consumers
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_partitions_are_spread_over_members_that_come_and_go(
    client: ConfluentClient, topic: str, protocol: str
) -> None:
    first = member(client, topic, protocol)
    poll_until([first], lambda: are_spread(first))
    second = member(client, topic, protocol)
    poll_until([first, second], lambda: are_spread(first, second))
    first.close()
    poll_until([second], lambda: are_spread(second))
    second.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_next_member_goes_on_where_the_last_one_committed(
    client: ConfluentClient, topic: str, protocol: str
) -> None:
    first = member(client, topic, protocol)
    assert len(first.consume(RECORDS, TIMEOUT_S)) == RECORDS
    first.commit(asynchronous=False)
    first.close()
    produce(client, topic)
    second = member(client, topic, protocol)
    offsets = {message.offset() for message in second.consume(RECORDS, TIMEOUT_S)}
    second.close()
    each = RECORDS // PARTITIONS
    assert offsets == set(range(each, 2 * each))


def test_cooperative_members_keep_what_stays_theirs(client: ConfluentClient, topic: str) -> None:
    configs = {"partition_assignment_strategy": "cooperative-sticky"}
    first = member(client, topic, "classic", **configs)
    poll_until([first], lambda: are_spread(first))
    lost: list[int] = []
    revoked: Any = lambda _consumer, gone: lost.extend(each.partition for each in gone)  # noqa: E731
    first.subscribe([topic], on_revoke=revoked)
    second = member(client, topic, "classic", **configs)
    poll_until([first, second], lambda: are_spread(first, second))
    assert len(lost) == PARTITIONS // 2
    first.close()
    second.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_static_member_comes_back_to_its_partitions(
    client: ConfluentClient, topic: str, protocol: str
) -> None:
    first = member(client, topic, protocol, group_instance_id="1")
    second = member(client, topic, protocol, group_instance_id="2")
    poll_until([first, second], lambda: are_spread(first, second))
    had, others = partitions(first), partitions(second)
    first.close()
    again = member(client, topic, protocol, group_instance_id="1")
    poll_until([again, second], lambda: are_spread(again, second))
    assert (partitions(again), partitions(second)) == (had, others)
    again.close()
    second.close()


def test_a_regular_expression_is_resolved_by_the_node(client: ConfluentClient, topic: str) -> None:
    consumer = client.consumer(
        group_id=f"group-of-{topic}", auto_offset_reset="earliest", group_protocol="consumer"
    )
    consumer.subscribe([f"^{topic[:-1]}."])
    assert len(consumer.consume(RECORDS, TIMEOUT_S)) == RECORDS
    consumer.close()


def test_a_consumer_without_subscription_commits_and_reads_offsets(
    client: ConfluentClient, topic: str
) -> None:
    consumer = client.consumer(group_id=f"simple-{topic}")
    consumer.commit(offsets=[TopicPartition(topic, 1, 3, "here")], asynchronous=False)
    (committed,) = consumer.committed([TopicPartition(topic, 1)], TIMEOUT_S)
    assert (committed.offset, committed.metadata) == (3, "here")
    (none,) = consumer.committed([TopicPartition(topic, 2)], TIMEOUT_S)
    assert none.offset < 0
    consumer.close()


def test_commits_to_partitions_that_there_are_not_are_refused(
    client: ConfluentClient, topic: str
) -> None:
    consumer = client.consumer(group_id=f"simple-{topic}")
    with pytest.raises(KafkaException) as refused:
        consumer.commit(offsets=[TopicPartition(topic, PARTITIONS, 3)], asynchronous=False)
    assert refused.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    consumer.close()


def test_the_admin_alters_lists_and_deletes_offsets_and_groups(
    admin: AdminClient, client: ConfluentClient, topic: str
) -> None:
    group = f"altered-{topic}"
    offsets = [TopicPartition(topic, number, number) for number in range(PARTITIONS)]
    admin.alter_consumer_group_offsets([GroupOffsets(group, offsets)])[group].result()
    listed = admin.list_consumer_group_offsets([GroupOffsets(group)])[group].result()
    assert [(each.partition, each.offset) for each in listed.topic_partitions] == [
        (number, number) for number in range(PARTITIONS)
    ]
    admin.delete_consumer_groups([group])[group].result()
    with pytest.raises(KafkaException, match="GROUP_ID_NOT_FOUND"):
        admin.delete_consumer_groups([group])[group].result()


def test_a_group_with_members_cannot_be_deleted(
    admin: AdminClient, client: ConfluentClient, topic: str
) -> None:
    consumer = member(client, topic, "classic")
    poll_until([consumer], lambda: are_spread(consumer))
    with pytest.raises(KafkaException, match="NON_EMPTY_GROUP"):
        admin.delete_consumer_groups([f"group-of-{topic}"])[f"group-of-{topic}"].result()
    consumer.close()


def test_a_groups_own_session_timeout_counts(
    admin: AdminClient, client: ConfluentClient, node: RunningNode, topic: str
) -> None:
    """A member that is silent for 2 s loses its partitions; the node would wait for 45 s."""
    group = f"group-of-{topic}"
    session = ConfigEntry(
        "consumer.session.timeout.ms", "2000", incremental_operation=AlterConfigOpType.SET
    )
    change = ConfigResource(ResourceType.GROUP, group, incremental_configs=[session])
    admin.incremental_alter_configs([change])[change].result()
    resource = ConfigResource(ResourceType.GROUP, group)
    configs = admin.describe_configs([resource])[resource].result()
    assert configs["consumer.session.timeout.ms"].value == "2000"
    host, port = node.bootstrap.rsplit(":", 1)
    with WireConnection((host, int(port))) as silent:
        silent.send_request(FindCoordinatorRequest(coordinator_keys=[group]), 6)
        joined = silent.send_request(
            ConsumerGroupHeartbeatRequest(
                group_id=group,
                member_id="silent",
                rebalance_timeout_ms=300_000,
                subscribed_topic_names=[topic],
                topic_partitions=[],
            ),
            1,
        )
        assert joined.error_code == 0, joined
    consumer = member(client, topic, "consumer")
    poll_until([consumer], lambda: are_spread(consumer))
    consumer.close()


def test_a_group_changes_its_protocol_member_by_member(
    admin: AdminClient, client: ConfluentClient, topic: str
) -> None:
    def kind() -> str:
        described = admin.describe_consumer_groups([f"group-of-{topic}"])
        return str(described[f"group-of-{topic}"].result().type.name)

    old = member(client, topic, "classic")
    poll_until([old], lambda: are_spread(old))
    new = member(client, topic, "consumer")
    poll_until([old, new], lambda: are_spread(old, new))
    assert kind() == "CONSUMER"
    new.close()
    poll_until([old], lambda: are_spread(old))
    assert kind() == "CLASSIC"
    old.close()
