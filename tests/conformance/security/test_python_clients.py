"""The project's own client and others in Python, with each mechanism over TLS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.conformance.security.aiokafka import AiokafkaSecuredClient
from tests.conformance.security.clients import LoginRefusedError, SecuredClient, UntrustedError
from tests.conformance.security.confluent import ConfluentSecuredClient
from tests.conformance.security.kafka_python import (
    DoomedKafkaPythonClient,
    KafkaPythonSecuredClient,
)
from tests.conformance.security.node import SecuredNode, running
from tests.conformance.security.ottla import OttlaSecuredClient
from tests.conformance.security.population import KINDS, SUE, Population
from tests.conformance.security.usage import VALUES, assert_allowed, assert_refused, own_name

CLIENTS: list[SecuredClient] = [
    OttlaSecuredClient(),
    ConfluentSecuredClient(),
    KafkaPythonSecuredClient(),
    AiokafkaSecuredClient(),
]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with running(SecuredNode(tmp_path_factory.mktemp("secured"))) as node:
        yield node


@pytest.fixture(scope="module")
def population(node: SecuredNode) -> Population:
    population = Population(node)
    population.settle(CLIENTS)
    return population


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> SecuredClient:
    client: SecuredClient = request.param
    return client


@pytest.mark.parametrize("kind", KINDS)
def test_users_may_do_what_acls_allow_and_no_more(
    client: SecuredClient, population: Population, kind: str
) -> None:
    login = population.login(kind)
    if reason := client.why_not(login):
        pytest.skip(reason)
    endpoint = population.endpoint(login)
    assert_allowed(client, endpoint, login)
    assert_refused(client, endpoint, login)


@pytest.mark.parametrize("listener", ["TLS12", "TLS13", "NOTLS"])
def test_versions_and_stores_of_listeners_serve_alike(
    client: SecuredClient, population: Population, node: SecuredNode, listener: str
) -> None:
    """PEM texts with TLS 1.2, a PKCS#12 file with TLS 1.3, and SASL without TLS."""
    topic = own_name(client, SUE)
    client.produce(node.endpoint(listener), SUE, topic, VALUES)


def test_names_of_hosts_are_verified(
    client: SecuredClient, population: Population, node: SecuredNode
) -> None:
    """With localhost, clients send the name to the node (SNI)."""
    client.produce(node.endpoint(host="localhost"), SUE, own_name(client, SUE), VALUES)


def test_pkcs12_store_of_a_client_serves_as_well(population: Population) -> None:
    client = ConfluentSecuredClient()
    login = population.login("PKCS#12")
    client.produce(population.endpoint(login), login, own_name(client, login), VALUES)


def test_certificate_of_another_host_is_refused_by_the_client(
    client: SecuredClient, population: Population, node: SecuredNode
) -> None:
    elsewhere, topic = node.endpoint("ELSEWHERE"), own_name(client, SUE)
    doomed = DoomedKafkaPythonClient() if client.name == "kafka-python" else client
    with pytest.raises(UntrustedError):
        doomed.produce(elsewhere, SUE, topic, VALUES)
    # It is only the name: without its verification, the same certificate is good enough.
    client.produce(replace(elsewhere, verifies_host=False), SUE, topic, VALUES)


def test_wrong_password_is_refused(
    client: SecuredClient, population: Population, node: SecuredNode
) -> None:
    if client.name == "kafka-python":
        pytest.skip("kafka-python drops a response that arrives with the end of its connection")
    wrong = replace(SUE, password="wrong")
    with pytest.raises(LoginRefusedError, match="invalid credentials"):
        client.produce(node.endpoint(), wrong, own_name(client, SUE), VALUES)
