"""Nodes to talk to, and every client to talk with. A test makes topics of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient

from tests.conformance.aiokafka.client import AiokafkaClient
from tests.conformance.clients import Client
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.client import Java, JavaClient
from tests.conformance.kafka.process import reason_unavailable as reason_no_java
from tests.conformance.kafka_python.client import KafkaPythonClient
from tests.conformance.kcat.client import KcatClient
from tests.conformance.kcat.client import reason_unavailable as reason_no_kcat
from tests.conformance.ottla.client import OttlaClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode, running_node

CLIENTS = [
    "ottla",
    "confluent",
    "kafka-python",
    "aiokafka",
    "kcat",
    pytest.param("java", marks=pytest.mark.java),
]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    """A node as it is without further settings."""
    with running_node(tmp_path_factory.mktemp("node")) as node:
        yield node


@pytest.fixture(scope="session")
def strict_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    """A node that makes no topics by itself."""
    settings = {"auto.create.topics.enable": "false"}
    with running_node(tmp_path_factory.mktemp("strict"), settings=settings) as node:
        yield node


@pytest.fixture(scope="session")
def java() -> Iterator[Java]:
    if reason := reason_no_java():
        pytest.skip(reason)
    java = Java()
    yield java
    java.close()


@pytest.fixture(scope="session")
def admin(node: RunningNode) -> AdminClient:
    return AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})


@pytest.fixture
def topics(admin: AdminClient, node: RunningNode, request: pytest.FixtureRequest) -> Topics:
    # Folders have tests of the same name.
    return Topics(admin, node, f"{request.path.parent.name}-{request.node.name}")


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, node: RunningNode) -> Client:
    return client_named(request.param, request, node)


@pytest.fixture
def writer(node: RunningNode) -> Client:
    """Who writes where it does not matter who did."""
    return ConfluentClient(node.bootstrap)


@pytest.fixture
def kcat(node: RunningNode) -> KcatClient:
    if reason := reason_no_kcat():
        pytest.skip(reason)
    return KcatClient(node.bootstrap)


def client_named(name: str, request: pytest.FixtureRequest, node: RunningNode) -> Client:
    match name:
        case "ottla":
            return OttlaClient(node.bootstrap)
        case "confluent":
            return ConfluentClient(node.bootstrap)
        case "kafka-python":
            return KafkaPythonClient(node.bootstrap)
        case "aiokafka":
            return AiokafkaClient(node.bootstrap)
        case "java":
            return JavaClient(request.getfixturevalue("java"), node.bootstrap)
    assert name == "kcat"
    kcat: KcatClient = request.getfixturevalue("kcat")
    return kcat
