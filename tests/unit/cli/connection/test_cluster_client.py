"""Connecting to a cluster, and the many ways in which it fails."""

from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    BrokerMetadata,
    ClusterMetadata,
    PartitionMetadata,
    TopicMetadata,
)

from ottla.cli.connection import cluster_client
from ottla.cli.connection.cluster_client import (
    FIRST_ANSWER_TIMEOUT_S,
    TOKEN_REQUEST_DELAY_S,
    ConnectedCluster,
    connect,
    producer_configs,
)
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.network import Address
from tests.support.captured_terminal import captured_terminal, complained

BOOTSTRAP = "localhost:9092"
LOCAL = Address("localhost", 9092)
UNKNOWN_TOPIC = KafkaError.UNKNOWN_TOPIC_OR_PART
TOPIC_AUTHORIZATION_FAILED = KafkaError.TOPIC_AUTHORIZATION_FAILED


class FakeProbe:
    """Knows which addresses are closed, and what is there that is no broker."""

    def __init__(
        self, closed: dict[Address, str] | None = None, protocol: str | None = None
    ) -> None:
        self._closed = closed or {}
        self._protocol = protocol

    def why_unreachable(self, addresses: Iterable[Address]) -> dict[Address, str]:
        return {address: self._closed[address] for address in addresses if address in self._closed}

    def other_protocol(self, address: Address) -> str | None:
        return self._protocol


class FakeAdmin:
    """Answers with what the test put here: metadata, or an error's code."""

    answer: ClusterMetadata | int
    timeout_s: float

    def __init__(self, configs: dict[str, Any]) -> None:
        self.bootstrap = configs["bootstrap.servers"]

    def poll(self, timeout: float) -> int:
        return 0

    def describe_topics(
        self, topics: TopicCollection, request_timeout: float
    ) -> dict[str, "Future[object]"]:
        """Any topic that begins with "secret" may not be described; the others do not exist."""
        answers = {}
        for name in topics.topic_names:
            is_secret = name.startswith("secret")
            code = TOPIC_AUTHORIZATION_FAILED if is_secret else UNKNOWN_TOPIC
            answers[name] = Future[object]()
            answers[name].set_exception(KafkaException(KafkaError(code)))
        return answers

    def list_topics(self, timeout: float) -> ClusterMetadata:
        FakeAdmin.timeout_s = timeout
        if isinstance(self.answer, int):
            raise KafkaException(KafkaError(self.answer))
        return self.answer


@pytest.fixture(autouse=True)
def fake_admin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_client, "AdminClient", FakeAdmin)


def metadata(*brokers: Address, topics: Iterable[str] = ()) -> ClusterMetadata:
    found = ClusterMetadata()
    for number, address in enumerate(brokers, 1):
        broker: Any = BrokerMetadata()
        broker.id, (broker.host, broker.port) = number, address
        found.brokers[number] = broker
    for name in topics:
        topic: Any = TopicMetadata()
        topic.topic, topic.partitions = name, {number: PartitionMetadata() for number in range(3)}
        found.topics[name] = topic
    return found


def connected(
    answer: ClusterMetadata | int, probe: FakeProbe | None = None, bootstrap: str = BOOTSTRAP
) -> tuple[ConnectedCluster, str]:
    """The cluster, and what was told on the way."""
    FakeAdmin.answer = answer
    terminal = captured_terminal()
    options = ClusterOptions(bootstrap)
    cluster = connect(options, terminal, probe or FakeProbe())  # type: ignore[arg-type]
    return cluster, complained(terminal)


def failure(answer: ClusterMetadata | int, probe: FakeProbe | None = None) -> CommandError:
    with pytest.raises(CommandError) as raised:
        connected(answer, probe)
    assert raised.value.exit_code == ExitCode.UNREACHABLE
    return raised.value


def test_a_missing_listener_is_reported() -> None:
    error = failure(metadata(), FakeProbe({LOCAL: "connection refused"}))
    assert error.message == "Cannot connect to localhost:9092: connection refused."
    assert "ottla start" in error.hints[0]
    assert "OTTLA_BOOTSTRAP" in error.hints[0]


def test_one_of_several_addresses_is_enough() -> None:
    probe = FakeProbe({Address("gone", 9092): "no answer"})
    cluster, output = connected(metadata(LOCAL), probe, bootstrap=f"gone:9092,{BOOTSTRAP}")
    assert cluster.addresses == (LOCAL,)
    assert output == ""


@pytest.mark.parametrize("protocol", ["HTTP", "TLS"])
def test_another_protocols_port(protocol: str) -> None:
    error = failure(KafkaError._TRANSPORT, FakeProbe(protocol=protocol))
    assert error.message == f"localhost:9092 does not speak Kafka's protocol: it is {protocol}."


def test_a_port_without_any_answer() -> None:
    error = failure(KafkaError._TRANSPORT)
    assert "accepts connections, but sent no valid Kafka response" in error.message


def test_a_controllers_port() -> None:
    error = failure(KafkaError._UNSUPPORTED_FEATURE)
    assert "localhost:9092 is a controller's port" in error.message


def test_a_wrong_advertised_address_is_named_with_the_remedy() -> None:
    inside = Address("broker.internal", 9092)
    error = failure(metadata(inside), FakeProbe({inside: "name or service not known"}))
    assert "broker 1 advertises broker.internal:9092 (name or service not known)" in error.message
    assert error.message.startswith("localhost:9092 answers, but")
    assert "advertised.listeners" in error.hints[0]
    assert "PLAINTEXT://localhost:9092" in error.hints[0]


def test_one_broker_of_several_that_is_away_is_only_mentioned() -> None:
    away = Address("two", 9092)
    cluster, output = connected(metadata(LOCAL, away), FakeProbe({away: "connection refused"}))
    assert len(cluster.metadata.brokers) == 2
    assert "broker 2 advertises two:9092 (connection refused)" in output


def test_unknown_topics_have_near_names() -> None:
    cluster, _ = connected(metadata(LOCAL, topics=["Orders", "orders-eu", "payments"]))
    with pytest.raises(CommandError, match="There is no topic ordes") as raised:
        cluster.topic("ordes")
    assert raised.value.exit_code == ExitCode.REFUSED
    assert raised.value.hints[0] == "Did you mean Orders or orders-eu?"
    with pytest.raises(CommandError) as raised:
        cluster.topic("zzz")
    assert "ottla topics list" in raised.value.hints[0]


def test_topics_that_may_not_be_described_are_not_said_to_be_missing() -> None:
    cluster, _ = connected(metadata(LOCAL, topics=["orders"]))
    with pytest.raises(CommandError, match="TOPIC_AUTHORIZATION_FAILED") as raised:
        cluster.topic("secret-orders")
    assert raised.value.exit_code == ExitCode.REFUSED
    assert "ottla acls add" in raised.value.hints[0]


def test_partitions_are_chosen_in_order_and_have_to_exist() -> None:
    cluster, _ = connected(metadata(LOCAL, topics=["orders"]))
    assert cluster.partitions("orders") == [0, 1, 2]
    assert cluster.partitions("orders", [2, 0, 2]) == [0, 2]
    with pytest.raises(CommandError, match="Number of its partitions: 3, numbered from 0"):
        cluster.partitions("orders", [7, 3, 0])


def test_producers_promise_no_duplicates_only_where_all_acknowledge() -> None:
    assert producer_configs(acks="all", compression="none", is_long=True)["enable.idempotence"]
    for acks, is_long in (("1", True), ("0", True), ("all", False)):
        configs = producer_configs(acks=acks, compression="none", is_long=is_long)
        assert "enable.idempotence" not in configs


def test_first_answer_may_take_longer_with_tokens_which_the_client_requests_late(
    tmp_path: Path,
) -> None:
    token = tmp_path / "token"
    token.write_text("a.b.c")
    FakeAdmin.answer = metadata(LOCAL)
    properties = (
        "security.protocol=SASL_SSL",
        "sasl.mechanism=OAUTHBEARER",
        f"sasl.oauthbearer.token.endpoint.url={token.as_uri()}",
    )
    timeouts = []
    for given in ((), properties):
        options = ClusterOptions(BOOTSTRAP, properties=given)
        connect(options, captured_terminal(), FakeProbe())  # type: ignore[arg-type]
        timeouts.append(FakeAdmin.timeout_s)
    assert timeouts == [FIRST_ANSWER_TIMEOUT_S, FIRST_ANSWER_TIMEOUT_S + TOKEN_REQUEST_DELAY_S]
