"""A secured cluster while it runs: certificates and passwords are replaced under load, and a node
that cannot join says why, and joins when that is corrected."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.wire.messages.create_delegation_token import CreateDelegationTokenRequest
from tests.integration.cluster.agreement import assert_read_back
from tests.integration.cluster.cluster_view import create_topic, wait_in_sync
from tests.integration.cluster.load import Reader, TimedProducer
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until
from tests.support.nodes.node_listeners import HOST
from tests.support.nodes.secured_listeners import (
    ADMIN,
    MECHANISM,
    SecuredListeners,
    login_properties,
    password_of,
    replace_keystore,
    set_password,
    trust,
)
from tests.support.nodes.secured_wire_connection import SecuredWireConnection
from tests.support.security.certificates import Authority

TOPIC = "load"
REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
STEADY = 50
# Two seconds, on a host that has time for it.
CORRECTION_SECONDS_MAX = 30.0
# A failover takes less than a second; this host may be busy.
GAP_SECONDS_MAX = 30.0
# What one node that cannot log in may cost the log of another one.
LINES_MAX = 6


class SecuredCluster(ClusterProcesses):
    def __init__(self, scratch: Path) -> None:
        self.secured = SecuredListeners(scratch / "certificates")
        super().__init__(scratch, {}, listeners=self.secured)

    def connect_with(self, node: NodeOfCluster, truststore: Path) -> SecuredWireConnection:
        address = (HOST, node.port)
        return SecuredWireConnection(address, truststore, MECHANISM, ADMIN, password_of(ADMIN))

    def wait_certificates_of(self, authority: Authority, *nodes: NodeOfCluster) -> None:
        """Returns when the nodes present certificates of this authority."""

        def are_presented() -> bool:
            for node in nodes:
                self.connect_with(node, authority.truststore).socket.close()
            return True

        wait_until(are_presented, "the nodes present new certificates")

    def wait_said(self, node: NodeOfCluster, text: str, *, after: int) -> None:
        """Returns when a node has logged this, after so many characters of its log."""
        wait_until(
            lambda: text in node.stderr[after:],
            f"node {node.id} logs: {text}",
            seconds_max=CORRECTION_SECONDS_MAX,
        )

    def trust_everywhere(self, *authorities: Authority) -> None:
        """Replaces the trust stores of all nodes, and returns when they use them."""
        before = {node.id: len(node.stderr) for node in self.brokers}
        for file in (*self.secured.truststores.values(), self.secured.client_truststore):
            trust(file, *authorities)
        for node in self.brokers:
            text = f"changed certificates are used now: {self.secured.truststores[node.id]}"
            self.wait_said(node, text, after=before[node.id])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    with SecuredCluster(tmp_path_factory.mktemp("secured")) as cluster:
        cluster.secured.add_acls(cluster.bootstrap)
        create_topic(cluster, TOPIC, REPLICAS)
        yield cluster
        cluster.assert_no_traceback()


def test_authority_certificates_and_passwords_are_replaced_under_load(
    cluster: SecuredCluster,
) -> None:
    secured, nodes = cluster.secured, cluster.brokers
    old, new = secured.authority, Authority(secured.directory, "new")
    trust(secured.client_truststore, old, new)
    said = [len(node.stderr) for node in nodes]
    with Reader(cluster.client, TOPIC, len(REPLICAS)) as reader:
        with TimedProducer(cluster.client, TOPIC, len(REPLICAS)) as producer:
            producer.wait_acknowledged(more=STEADY)
            cluster.trust_everywhere(old, new)
            for node in nodes:
                replace_keystore(secured.keystores[node.id], new)
            cluster.wait_certificates_of(new, *nodes)
            secured.authority = new
            cluster.trust_everywhere(new)
            producer.wait_acknowledged(more=STEADY)
            lines = "".join(node.stderr[at:] for node, at in zip(nodes, said, strict=True))
            assert "refused" not in lines, lines
            # All connect to it again, with the new certificates, and it with new passwords.
            node = cluster.nodes[3]
            for listener, user in (("INTERNAL", "broker-3"), ("CONTROLLER", "controller-3")):
                set_password(cluster.admin, user, "another password")
                node.configure(login_properties(listener, user, "another password"))
            node.stop()
            node.start()
            node.wait_ready()
            wait_in_sync(cluster, TOPIC)
            producer.wait_acknowledged(more=STEADY)
        assert_read_back(producer, reader)
    print(f"\nreplaced: {producer.summary}")
    assert producer.gap_seconds_max < GAP_SECONDS_MAX


def test_a_delegation_token_of_one_node_is_valid_on_all(cluster: SecuredCluster) -> None:
    with cluster.connect(cluster.brokers[0]) as connection:
        token = connection.send_request(CreateDelegationTokenRequest(max_lifetime_ms=60_000), 3)
    assert not token.error_code
    hmac = b64encode(token.hmac).decode()

    def is_accepted() -> bool:
        for node in cluster.brokers:
            SecuredWireConnection(
                (HOST, node.port),
                cluster.secured.client_truststore,
                MECHANISM,
                token.token_id,
                hmac,
                is_token=True,
            ).socket.close()
        return True

    wait_until(is_accepted, "all nodes have applied the token")


def test_a_node_says_why_it_cannot_join_and_joins_when_that_is_corrected(
    cluster: SecuredCluster,
) -> None:
    secured, (*others, node) = cluster.secured, cluster.brokers
    keystore, truststore = secured.keystores[node.id], secured.truststores[node.id]
    node.stop()
    replace_keystore(keystore, secured.authority, is_expired=True)
    trust(truststore, Authority(secured.directory, "stranger"))
    for listener, user in (("INTERNAL", "broker-3"), ("CONTROLLER", "controller-3")):
        node.configure(login_properties(listener, user, "wrong"))
    said, others_said = len(node.stderr), [len(each.stderr) for each in others]
    node.start()
    cluster.wait_said(node, f"certificate of the key store {keystore} expired at", after=said)
    cluster.wait_said(node, "this node refused the certificate of", after=said)
    trust(truststore, secured.authority)
    refusal = "refused this node's SCRAM-SHA-512 credentials as"
    cluster.wait_said(node, f"{refusal} controller-3", after=said)
    for each, at in zip(others, others_said, strict=True):
        assert each.stderr.count("\n", at) <= LINES_MAX, each.stderr[at:]
    set_password(cluster.admin, "controller-3", "wrong")
    node.wait_ready()
    replace_keystore(keystore, secured.authority)
    cluster.wait_certificates_of(secured.authority, node)
    cluster.wait_said(node, f"{refusal} broker-3", after=said)
    set_password(cluster.admin, "broker-3", "wrong")
    wait_in_sync(cluster, TOPIC)
    cluster.wait_said(node, "accepts this node now", after=said)
