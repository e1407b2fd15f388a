"""The brokers that ottla.client is tested with: the same tests, an Ottla node and Apache Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.versus.servers import KafkaServer, fresh
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.kafka.process import reason_unavailable
from tests.support.nodes.nodes import running_node

# Groups need not wait, heartbeats come often, and connections are closed when they are idle.
_SETTINGS: Mapping[str, str] = {
    "group.min.session.timeout.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.assignment.interval.ms": "0",
    "group.share.min.record.lock.duration.ms": "1000",
    "share.coordinator.state.topic.num.partitions": "4",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "connections.max.idle.ms": "3000",
}


class BrokerUnderTest(NamedTuple):
    """A broker of either kind. Topics have names that no other test has."""

    kind: str
    bootstrap: str
    admin: AdminClient

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> str:
        """Returns the name when the broker knows the topic."""
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        topic = NewTopic(name, partitions, 1, config=dotted)
        self.admin.create_topics([topic])[name].result()
        while self.admin.list_topics(name, TIMEOUT_S).topics[name].error is not None:
            pass
        return name

    def producer(self, **configs: object) -> Producer:
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        return Producer({"bootstrap.servers": self.bootstrap, "log_level": 0, **dotted})

    def fill(self, topic: str, count: int, *, partitions: int = 1, codec: str = "none") -> None:
        """Writes the numbers from 0 on, in turn to each partition."""
        messages = [Message(b"%d" % n, partition=n % partitions) for n in range(count)]
        ConfluentClient(self.bootstrap).produce(topic, messages, codec=codec)


@pytest.fixture(scope="session", params=["ottla", pytest.param("kafka", marks=pytest.mark.java)])
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerUnderTest]:
    if request.param == "ottla":
        with running_node(tmp_path_factory.mktemp("node"), settings=_SETTINGS) as node:
            yield _under_test("ottla", node.bootstrap)
        return
    if reason := reason_unavailable():
        pytest.skip(reason)
    with fresh(KafkaServer, _SETTINGS) as server:
        server.start()
        yield _under_test("kafka", server.address)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """For a topic or a group of the test's own."""
    return re.sub(r"[^a-zA-Z0-9.-]+", "-", request.node.name)


def _under_test(kind: str, bootstrap: str) -> BrokerUnderTest:
    return BrokerUnderTest(
        kind, bootstrap, AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    )
