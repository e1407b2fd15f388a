"""Every mistake with TLS, SASL and rights is answered with what to do about it."""

from __future__ import annotations

import pytest

from ottla.cli.connection.cluster_errors import insecure, refused
from ottla.cli.connection.rights_hints import rights_hint
from ottla.client.administration.requests import node_error
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.network import Address
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.rights import Rights
from ottla.security.principal import Principal


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("authentication with SASL mechanism PLAIN failed: invalid credentials", "the password"),
        (
            "the listener enables PLAIN, not SCRAM-SHA-256 (UNSUPPORTED_SASL_MECHANISM)",
            "sasl.mechanism",
        ),
        (
            "the listener does not authenticate clients with SASL",
            "does not authenticate clients with SASL",
        ),
        (
            "the TLS handshake failed: certificate verify failed: IP address mismatch, "
            "certificate is not valid for '127.0.0.1'",
            "is for other hosts",
        ),
        (
            "the TLS handshake failed: certificate verify failed: self-signed certificate in "
            "certificate chain",
            "ssl.truststore.location",
        ),
        ("certificate verify failed: certificate has expired", "Renew the certificate"),
        ("certificate verify failed: unable to get certificate CRL", "ottla.ssl.crl.location"),
        ("tlsv13 alert certificate required: SSL alert number 116", "ssl.keystore.location"),
        ("the TLS handshake failed: the peer requires a certificate", "ssl.keystore.location"),
        ("tlsv1 alert unknown ca: SSL alert number 48", "does not accept this client's"),
        ("the TLS handshake failed: the peer does not use TLS", "does not use TLS"),
        ("something that is new", "--command-config"),
    ],
)
def test_an_insecure_connection_has_its_remedy(reason: str, advice: str) -> None:
    error = insecure([Address("localhost", 9092)], reason)
    assert advice in error.hints[0]


@pytest.mark.parametrize(
    ("operation", "resource_type", "name", "command"),
    [
        (AclOperation.CREATE, ResourceType.TOPIC, "orders", "--operation create --topic orders"),
        (
            AclOperation.DESCRIBE_CONFIGS,
            ResourceType.GROUP,
            "a b",
            "--operation describe-configs --group 'a b'",
        ),
        (
            AclOperation.ALTER,
            ResourceType.CLUSTER,
            "kafka-cluster",
            "--operation alter --cluster",
        ),
    ],
)
def test_a_refused_right_comes_with_the_command_that_gives_it(
    operation: AclOperation, resource_type: ResourceType, name: str, command: str
) -> None:
    rights = Rights(StandardAuthorizer(), Principal("User", "CN=shop"), "192.0.2.7")
    with pytest.raises(KafkaError) as raised:
        rights.require(operation, resource_type, name)
    hint = rights_hint(raised.value.code.name, raised.value.message)
    assert hint is not None
    assert hint.endswith(f"ottla acls add --allow-principal User:CN=shop {command}")


def test_a_refusal_of_another_cluster_says_who_can_help() -> None:
    for error in (
        refused("elect leaders", node_error(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)),
        refused("read", node_error(ErrorCode.GROUP_AUTHORIZATION_FAILED, "Not authorized")),
    ):
        assert "ottla acls add" in error.hints[0]
