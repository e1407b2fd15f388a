"""Clients of every kind are in one group; one of them is killed, and the others take over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from confluent_kafka.admin import AdminClient

from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.console_consumer import CLIENT_ID, ConsoleConsumer
from tests.conformance.kafka.process import reason_unavailable
from tests.conformance.kafka_python.client import KafkaPythonClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode, running_node

admin = groups.admin

pytestmark = pytest.mark.java

# For who is killed, as short as a classic session may be.
SESSION_MS = "6000"
SETTINGS = {
    **groups.SETTINGS,
    "group.consumer.min.session.timeout.ms": SESSION_MS,
    "group.consumer.session.timeout.ms": SESSION_MS,
}
ROUND_ROBIN = "org.apache.kafka.clients.consumer.RoundRobinAssignor"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    with running_node(tmp_path_factory.mktemp("mixed"), settings=SETTINGS) as node:
        yield node


class Watched:
    """What the coordinator says of a group: how many partitions each member has, Java's first."""

    def __init__(self, admin: AdminClient, group: str) -> None:
        self._admin = admin
        self._group = group

    def shares(self) -> list[int]:
        described = self._admin.describe_consumer_groups([self._group])[self._group].result()
        members = sorted(described.members, key=lambda each: each.client_id != CLIENT_ID)
        return [len(each.assignment.topic_partitions) for each in members]

    def java_is_in(self) -> bool:
        described = self._admin.describe_consumer_groups([self._group])[self._group].result()
        return any(each.client_id == CLIENT_ID for each in described.members)


def wait_for(condition: Callable[[], bool], go_on: Callable[[], object], what: str) -> None:
    """Lets the members go on until it is so."""
    deadline = perf_counter() + 2 * TIMEOUT_S
    while not condition():
        assert perf_counter() < deadline, what
        go_on()


def test_four_kinds_of_clients_share_a_topic_and_what_one_leaves_behind(
    node: RunningNode, admin: AdminClient, topics: Topics
) -> None:
    topic = topics.create(partitions=12)
    watched = Watched(admin, topic)
    configs = {"group_id": topic, "heartbeat_interval_ms": 300, "enable_auto_commit": False}
    librdkafka = ConfluentClient(node.bootstrap).consumer(
        **configs, partition_assignment_strategy="roundrobin"
    )

    async def run(kafka_python: Any, java: ConsoleConsumer) -> None:
        # It is the first one, for it does not return before it has joined.
        async with AIOKafkaConsumer(topic, bootstrap_servers=node.bootstrap, **configs) as aiokafka:
            librdkafka.subscribe([topic])
            # If it leads the group, it assigns only the partitions that it knows.
            assert kafka_python.partitions_for_topic(topic)
            kafka_python.subscribe([topic])
            members = (librdkafka, kafka_python, aiokafka)
            await groups.poll_until(lambda: watched.shares() == [3, 3, 3, 3], *members)
            assert watched.java_is_in()
            java.kill()
            await groups.poll_until(lambda: watched.shares() == [4, 4, 4], *members)
            owned = [*_numbers(librdkafka), *_numbers(kafka_python), *_numbers(aiokafka)]
            assert sorted(owned) == list(range(12))

    properties = {
        "session_timeout_ms": SESSION_MS,
        "heartbeat_interval_ms": "300",
        "partition_assignment_strategy": ROUND_ROBIN,
    }
    with (
        KafkaPythonClient(node.bootstrap).consumer(**configs) as kafka_python,
        ConsoleConsumer(node.bootstrap, topic, topic, **properties) as java,
    ):
        asyncio.run(run(kafka_python, java))
    librdkafka.close()


def _numbers(consumer: Any) -> list[int]:
    return [each.partition for each in consumer.assignment()]


def test_java_and_librdkafka_share_a_topic_by_the_new_protocol(
    node: RunningNode, admin: AdminClient, topics: Topics
) -> None:
    topic = topics.create(partitions=3)
    watched = Watched(admin, topic)
    members = [
        ConfluentClient(node.bootstrap).consumer(group_id=topic, group_protocol="consumer")
        for _ in range(2)
    ]

    def go_on() -> None:
        for member in members:
            member.poll(0.05)

    for member in members:
        member.subscribe([topic])
    with ConsoleConsumer(node.bootstrap, topic, topic, group_protocol="consumer") as java:
        wait_for(lambda: watched.shares() == [1, 1, 1], go_on, "every member has a partition")
        assert watched.java_is_in()
        java.kill()
        wait_for(lambda: sorted(watched.shares()) == [1, 2], go_on, "two have all")
    for member in members:
        member.close()
