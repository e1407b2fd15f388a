"""A node's certificate is replaced by changing its file; by a dynamic config, test_java.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.security.aiokafka import AiokafkaSecuredClient
from tests.conformance.security.certificates import Certificates
from tests.conformance.security.clients import UntrustedError
from tests.conformance.security.confluent import LastingConfluentClient
from tests.conformance.security.node import SecuredNode, running
from tests.conformance.security.population import SUE, Population
from tests.support.nodes.cluster_processes import wait_until

KEYSTORE = "listener.name.clients.ssl.keystore.location"
TOPIC = "sue-certificates"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[SecuredNode]:
    with running(SecuredNode(tmp_path)) as node:
        population = Population(node)
        population.settle([])
        population.create_topics([TOPIC])
        yield node


def test_certificate_is_replaced_by_changing_its_file(node: SecuredNode) -> None:
    """New connections get the new certificate, and open ones go on."""
    endpoint, client = node.endpoint(), AiokafkaSecuredClient()
    new = Certificates(node.home / "new")
    trusting = replace(endpoint, truststore=new.truststore)
    with closing(LastingConfluentClient(endpoint, SUE, TOPIC)) as lasting:
        lasting.send("before")
        with pytest.raises(UntrustedError):
            client.produce(trusting, SUE, TOPIC, ["too early"])
        new.of_node("node").keystore.replace(node.properties[KEYSTORE])
        wait_until(
            lambda: "changed certificates are used now" in node.log, "the node has read the file"
        )
        client.produce(trusting, SUE, TOPIC, ["new"])
        with pytest.raises(UntrustedError):
            client.produce(endpoint, SUE, TOPIC, ["too late"])
        lasting.send("after")
    assert client.consume(trusting, SUE, TOPIC, TOPIC, 3) == ["before", "new", "after"]
