"""Connecting to a cluster, and the many ways in which it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import pytest

from ottla.channels.authentication import AuthenticationFailedError
from ottla.cli.connection import admin_connection
from ottla.cli.connection.admin_connection import with_admin
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.topic_lookup import existing_partitions, existing_topic
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.cluster import BrokerDescription, ClusterDescription
from ottla.client.administration.requests import node_error
from ottla.client.administration.topics import TopicDescription, TopicPartitionDescription
from ottla.client.errors import ClientError, RefusedConnectionError, TimedOutError
from ottla.model import ZERO_UUID, ErrorCode
from ottla.runtime.network import Address
from ottla.runtime.tls.errors import TlsHandshakeError
from tests.support.captured_terminal import captured_terminal, complained

T = TypeVar("T")
BOOTSTRAP = "localhost:9092"
LOCAL = Address("localhost", 9092)
SILENCE = TimedOutError("describe the cluster: no success within 1.0 s")


class FakeProbe:
    """Knows which addresses are closed, and what is there that is no broker."""

    def __init__(
        self, closed: dict[Address, str] | None = None, protocol: str | None = None
    ) -> None:
        self._closed = closed or {}
        self._protocol = protocol

    async def why_unreachable(self, addresses: Iterable[Address]) -> dict[Address, str]:
        return {address: self._closed[address] for address in addresses if address in self._closed}

    async def other_protocol(self, address: Address) -> str | None:
        return self._protocol


class FakeAdmin:
    """Answers with what the test put here: a cluster with topics, or an error."""

    answer: ClusterDescription | ClientError
    topics: tuple[str, ...] = ()

    def __init__(self, properties: dict[str, Any]) -> None:
        self.bootstrap = properties["bootstrap.servers"]

    async def close(self) -> None: ...

    async def describe_cluster(self, *, timeout: float) -> ClusterDescription:  # noqa: ASYNC109
        if isinstance(self.answer, ClientError):
            raise self.answer
        return self.answer

    async def describe_topic(self, name: str) -> TopicDescription:
        """Any topic that begins with "secret" may not be described."""
        if name.startswith("secret"):
            raise node_error(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        if name not in self.topics:
            raise node_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        partitions = tuple(
            TopicPartitionDescription(number, 1, 0, (1,), (1,), ()) for number in range(3)
        )
        return TopicDescription(name, ZERO_UUID, is_internal=False, partitions=partitions)

    async def list_topics(self) -> dict[str, None]:
        return dict.fromkeys(self.topics)


@pytest.fixture(autouse=True)
def fake_admin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin_connection, "Admin", FakeAdmin)


def cluster(*brokers: Address) -> ClusterDescription:
    return ClusterDescription(
        "id",
        1,
        tuple(
            BrokerDescription(number, host, port, None)
            for number, (host, port) in enumerate(brokers, 1)
        ),
    )


async def bootstrap_of(admin: Any) -> str:
    return str(admin.bootstrap)


def connected(
    answer: ClusterDescription | ClientError,
    probe: FakeProbe | None = None,
    options: ClusterOptions | None = None,
    operation: Callable[[Any], Awaitable[T]] = bootstrap_of,  # type: ignore[assignment]
) -> tuple[T, str]:
    """What the operation returned, and what was printed on the way."""
    FakeAdmin.answer = answer
    terminal = captured_terminal()
    found = with_admin(
        options or ClusterOptions(BOOTSTRAP),
        terminal,
        operation,
        probe or FakeProbe(),  # type: ignore[arg-type]
    )
    return found, complained(terminal)


def failure(
    answer: ClusterDescription | ClientError,
    probe: FakeProbe | None = None,
    options: ClusterOptions | None = None,
) -> CommandError:
    with pytest.raises(CommandError) as raised:
        connected(answer, probe, options)
    assert raised.value.exit_code == ExitCode.UNREACHABLE
    return raised.value


def caused_by(error: ClientError, cause: BaseException) -> ClientError:
    error.__cause__ = cause
    return error


def test_a_missing_listener_is_reported() -> None:
    error = failure(cluster(), FakeProbe({LOCAL: "connection refused"}))
    assert error.message == "Cannot connect to localhost:9092: connection refused."
    assert "ottla start" in error.hints[0]
    assert "OTTLA_BOOTSTRAP" in error.hints[0]


def test_one_of_several_addresses_is_enough() -> None:
    gone = Address("gone", 9092)
    options = ClusterOptions(f"gone:9092,{BOOTSTRAP}")
    found: tuple[str, str] = connected(cluster(LOCAL), FakeProbe({gone: "no answer"}), options)
    assert found == (BOOTSTRAP, "")


@pytest.mark.parametrize("protocol", ["HTTP", "TLS"])
def test_another_protocols_port(protocol: str) -> None:
    error = failure(SILENCE, FakeProbe(protocol=protocol))
    assert error.message == f"localhost:9092 does not speak Kafka's protocol: it is {protocol}."


def test_a_port_without_any_answer() -> None:
    error = failure(SILENCE)
    assert "accepts connections, but sent no valid Kafka response within 10 s" in error.message


@pytest.mark.parametrize(
    "code", [ErrorCode.UNSUPPORTED_VERSION, ErrorCode.MISMATCHED_ENDPOINT_TYPE]
)
def test_a_controllers_port(code: ErrorCode) -> None:
    error = failure(node_error(code))
    assert "localhost:9092 is a controller's port" in error.message


def test_a_refusal_of_the_credentials_says_why() -> None:
    cause = AuthenticationFailedError("cannot log in: wrong password", reason="wrong password")
    error = failure(caused_by(RefusedConnectionError("refused"), cause))
    assert error.message == "No secure connection to localhost:9092: wrong password."


def test_a_handshake_that_fails_is_not_taken_for_silence() -> None:
    handshake = TlsHandshakeError("the TLS handshake failed: the peer does not use TLS")
    options = ClusterOptions(BOOTSTRAP, properties=("security.protocol=SSL",))
    error = failure(caused_by(TimedOutError("late"), handshake), options=options)
    assert error.message.endswith("the peer does not use TLS.")
    assert "security.protocol=PLAINTEXT" in error.hints[0]


def test_a_wrong_advertised_address_is_named_with_the_remedy() -> None:
    inside = Address("broker.internal", 9092)
    error = failure(cluster(inside), FakeProbe({inside: "name or service not known"}))
    assert "broker 1 advertises broker.internal:9092 (name or service not known)" in error.message
    assert error.message.startswith("localhost:9092 answers, but")
    assert "advertised.listeners" in error.hints[0]
    assert "PLAINTEXT://localhost:9092" in error.hints[0]


def test_one_broker_of_several_that_is_away_is_only_mentioned() -> None:
    away = Address("two", 9092)
    found: tuple[str, str] = connected(
        cluster(LOCAL, away), FakeProbe({away: "connection refused"})
    )
    assert "broker 2 advertises two:9092 (connection refused)" in found[1]


def looked_up(topics: tuple[str, ...], name: str, *partitions: int) -> list[int]:
    FakeAdmin.topics = topics
    found: list[int] = connected(
        cluster(LOCAL), operation=lambda admin: existing_partitions(admin, name, partitions)
    )[0]
    return found


def test_unknown_topics_have_near_names() -> None:
    topics = ("Orders", "orders-eu", "payments")
    with pytest.raises(CommandError, match="There is no topic ordes") as raised:
        looked_up(topics, "ordes")
    assert raised.value.exit_code == ExitCode.REFUSED
    assert raised.value.hints[0] == "Did you mean Orders or orders-eu?"
    with pytest.raises(CommandError) as raised:
        looked_up(topics, "zzz")
    assert "ottla topics list" in raised.value.hints[0]


def test_topics_that_may_not_be_described_are_not_said_to_be_missing() -> None:
    with pytest.raises(CommandError, match="TOPIC_AUTHORIZATION_FAILED") as raised:
        asyncio.run(existing_topic(FakeAdmin({"bootstrap.servers": ""}), "secret"))  # type: ignore[arg-type]
    assert raised.value.exit_code == ExitCode.REFUSED
    assert "ottla acls add" in raised.value.hints[0]


def test_partitions_are_chosen_in_order_and_have_to_exist() -> None:
    assert looked_up(("orders",), "orders") == [0, 1, 2]
    assert looked_up(("orders",), "orders", 2, 0, 2) == [0, 2]
    with pytest.raises(CommandError, match="Number of its partitions: 3, numbered from 0"):
        looked_up(("orders",), "orders", 7, 3, 0)
