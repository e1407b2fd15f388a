"""One transactional id, taken in turns by Kafka's own client, which speaks TransactionV2, and by
librdkafka, which speaks the protocol before it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from tests.conformance import transactions
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.client import Java
from tests.conformance.topics import Topics
from tests.conformance.transactions import values
from tests.support.nodes.nodes import RunningNode

pytestmark = pytest.mark.java

admin, node = transactions.admin, transactions.node

FENCED = ("ProducerFencedException", "InvalidProducerEpochException")
_numbers = count()


class JavaProducer:
    """One that has the id as soon as it has begun its first transaction."""

    def __init__(self, java: Java, bootstrap: str, topic: str) -> None:
        self._java = java
        self._name = f"producer-{next(_numbers)}"
        self._topic = topic
        self._configs = {"bootstrap.servers": bootstrap, "transactional.id": topic}

    def begin(self, value: str) -> None:
        self._java.send_command(
            "begin-transaction",
            name=self._name,
            configs=self._configs,
            topic=self._topic,
            value=value,
        )

    def end(self, *, commits: bool = True) -> str | None:
        """The exception that it ended with."""
        thrown: str | None = self._java.send_command(
            "end-transaction", name=self._name, commits=commits
        )
        return thrown

    def close(self) -> None:
        self._java.send_command("close-transactional", name=self._name)


class SharedId:
    """The id is the topic's name. Kafka's producers stay in their process until it is closed."""

    def __init__(self, java: Java, bootstrap: str, topic: str) -> None:
        self._java = java
        self._bootstrap = bootstrap
        self._topic = topic
        self._producers: list[JavaProducer] = []

    def java(self, value: str) -> JavaProducer:
        """A new producer that has begun a transaction."""
        producer = JavaProducer(self._java, self._bootstrap, self._topic)
        self._producers.append(producer)
        producer.begin(value)
        return producer

    def librdkafka(self, value: str) -> Producer:
        """The same of librdkafka's."""
        producer = ConfluentClient(self._bootstrap).producer(transactional_id=self._topic)
        producer.init_transactions(TIMEOUT_S)
        self.go_on(producer, value)
        return producer

    def go_on(self, producer: Producer, value: str) -> None:
        producer.begin_transaction()
        producer.produce(self._topic, value)
        assert producer.flush(TIMEOUT_S) == 0

    def committed(self) -> list[str]:
        return values(self._bootstrap, self._topic)

    def close(self) -> None:
        for producer in self._producers:
            producer.close()


@pytest.fixture
def shared(java: Java, node: RunningNode, topics: Topics) -> Iterator[SharedId]:
    shared = SharedId(java, node.bootstrap, topics.create())
    yield shared
    shared.close()


def assert_fenced(producer: Producer) -> None:
    with pytest.raises(KafkaException) as raised:
        producer.commit_transaction(TIMEOUT_S)
    error = raised.value.args[0]
    assert (error.code(), error.fatal()) == (KafkaError._FENCED, True)


def test_java_takes_the_id_over(shared: SharedId) -> None:
    zombie = shared.librdkafka("lost")
    successor = shared.java("kept")
    assert_fenced(zombie)
    assert successor.end() is None
    assert shared.committed() == ["kept"]


@pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])
def test_the_late_end_of_java_does_not_touch_its_successor(
    shared: SharedId, *, commits: bool
) -> None:
    zombie = shared.java("lost")
    successor = shared.librdkafka("kept")
    assert zombie.end(commits=commits) in FENCED
    successor.commit_transaction(TIMEOUT_S)
    shared.go_on(successor, "kept too")
    successor.commit_transaction(TIMEOUT_S)
    assert shared.committed() == ["kept", "kept too"]


def test_an_end_after_the_successors_own_is_too_late(shared: SharedId) -> None:
    zombie = shared.java("lost")
    successor = shared.librdkafka("kept")
    successor.commit_transaction(TIMEOUT_S)
    assert zombie.end() in FENCED
    shared.go_on(successor, "kept too")
    successor.commit_transaction(TIMEOUT_S)
    assert shared.committed() == ["kept", "kept too"]


def test_the_id_goes_to_and_fro(shared: SharedId) -> None:
    for turn in range(3):
        java = shared.java(f"java {turn}")
        assert java.end() is None
        java.begin("lost")
        librdkafka = shared.librdkafka(f"librdkafka {turn}")
        librdkafka.commit_transaction(TIMEOUT_S)
        shared.go_on(librdkafka, "lost")
    assert shared.java("java 3").end() is None
    expected = [f"java {turn}" for turn in range(4)] + [f"librdkafka {turn}" for turn in range(3)]
    assert shared.committed() == expected
