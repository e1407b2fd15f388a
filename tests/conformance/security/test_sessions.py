"""Connections that live longer than their sessions (KIP-368); Java's are in test_java.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from time import perf_counter
from typing import NamedTuple

import pytest

from tests.conformance.clients import TIMEOUT_S
from tests.conformance.security.aiokafka import LastingAiokafkaClient
from tests.conformance.security.clients import LastingClient
from tests.conformance.security.confluent import LastingConfluentClient
from tests.conformance.security.kafka_python import LastingKafkaPythonClient
from tests.conformance.security.logins import Endpoint, Login
from tests.conformance.security.node import SecuredNode, running
from tests.conformance.security.population import PAULA, SAM, SUE, Population

# To begin with, a producer and a consumer have together at most so many connections.
CONNECTIONS_MAX = 6
LATER_AUTHENTICATIONS = 4
LISTENER = "REAUTH"


class Lasting(NamedTuple):
    """A client with a user of its own, so that the audit log tells the clients apart."""

    connect: Callable[[Endpoint, Login, str], LastingClient]
    login: Login
    reauthenticates: bool = True


CLIENTS = {
    "confluent": Lasting(LastingConfluentClient, SUE),
    "kafka-python": Lasting(LastingKafkaPythonClient, SAM),
    # The node closes its connections when their sessions have expired, and it connects again.
    "aiokafka": Lasting(LastingAiokafkaClient, PAULA, reauthenticates=False),
}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with running(SecuredNode(tmp_path_factory.mktemp("secured"))) as node:
        population = Population(node)
        population.settle([])
        population.create_topics(_topic(each.login) for each in CLIENTS.values())
        yield node


@pytest.fixture(scope="module")
def outlived(node: SecuredNode) -> Iterator[dict[str, Future[None]]]:
    """All clients at once, because they wait for the same time to pass."""
    with ThreadPoolExecutor(len(CLIENTS)) as threads:
        yield {name: threads.submit(outlive, node, each) for name, each in CLIENTS.items()}


@pytest.mark.parametrize("name", CLIENTS)
def test_sessions_are_outlived_without_loss(outlived: dict[str, Future[None]], name: str) -> None:
    outlived[name].result()


@pytest.mark.parametrize("name", CLIENTS)
def test_connections_are_kept_where_the_client_authenticates_again(
    outlived: dict[str, Future[None]], node: SecuredNode, name: str
) -> None:
    outlived[name].result()
    expired = sum(
        not entry["allowed"] and entry["mechanism"] == CLIENTS[name].login.mechanism
        for entry in node.authentications(LISTENER)
    )
    # Each expired session is followed by a new connection. On a busy host, some may expire anyway.
    assert (expired < LATER_AUTHENTICATIONS) == CLIENTS[name].reauthenticates


def outlive(node: SecuredNode, lasting: Lasting) -> None:
    def authentications() -> int:
        principal = f"User:{lasting.login.name}"
        return sum(entry["principal"] == principal for entry in node.authentications(LISTENER))

    with closing(
        lasting.connect(node.endpoint(LISTENER), lasting.login, _topic(lasting.login))
    ) as client:
        sent, received = list[str](), list[str]()
        deadline = perf_counter() + TIMEOUT_S

        def exchange() -> None:
            assert perf_counter() < deadline, f"{len(received)} of {len(sent)} records"
            sent.append(str(len(sent)))
            client.send(sent[-1])
            received.extend(client.receive())

        while authentications() < CONNECTIONS_MAX + LATER_AUTHENTICATIONS:
            exchange()
        while len(received) < len(sent):
            assert perf_counter() < deadline, f"{len(received)} of {len(sent)} records"
            received.extend(client.receive())
    assert received == sent


def _topic(login: Login) -> str:
    return f"{login.name}-sessions"
