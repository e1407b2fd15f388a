"""A real node refuses weak, forged, revoked and endless TLS, before it answers anything."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.metadata import MetadataRequest
from tests.support.nodes.wire_connection import framed
from tests.support.security.attacked_node import PASSWORD, AttackedNode
from tests.support.security.attacks import refused_quickly, under_attack
from tests.support.security.certificates import Authority, PemFiles
from tests.support.security.sasl_wire import log_in, scram
from tests.support.security.tls_wire import (
    FALLBACK_SUITE,
    STRONG_SUITES,
    TLS_1_0,
    TLS_1_1,
    TLS_1_2,
    TLS_1_3,
    TlsWire,
    alert_in,
    client_hello,
)

LISTENERS = ("SECURE", "MUTUAL")
VERSIONS = framed(ApiVersionsRequest(), 0)
# Of TLS: RFC 8446, section 6.
HANDSHAKE_FAILURE, PROTOCOL_VERSION, INAPPROPRIATE_FALLBACK = 40, 70, 86


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedNode]:
    with under_attack(tmp_path_factory.mktemp("node"), secrets=(PASSWORD, "mallory")) as node:
        yield node


@pytest.fixture(autouse=True)
def _quickly_and_others_are_served(node: AttackedNode) -> Iterator[None]:
    with refused_quickly(node):
        yield


# ---- downgrades, and what is no TLS

REFUSED_HELLOS: dict[str, tuple[bytes, int | None]] = {
    "SSL 3.0": (client_hello(0x0300), HANDSHAKE_FAILURE),
    "TLS 1.0": (client_hello(TLS_1_0), PROTOCOL_VERSION),
    "TLS 1.1": (client_hello(TLS_1_1), PROTOCOL_VERSION),
    "TLS 1.1 in the extension": (
        client_hello(TLS_1_2, supported_versions=(TLS_1_1, TLS_1_0)),
        PROTOCOL_VERSION,
    ),
    "a fallback to TLS 1.2": (
        client_hello(TLS_1_2, suites=(*STRONG_SUITES, FALLBACK_SUITE)),
        INAPPROPRIATE_FALLBACK,
    ),
    "no encryption": (client_hello(TLS_1_2, suites=(0x0001, 0x0002, 0x003B)), HANDSHAKE_FAILURE),
    "no certificate": (client_hello(TLS_1_2, suites=(0x0018, 0x0034, 0xC018)), HANDSHAKE_FAILURE),
    "export keys": (client_hello(TLS_1_2, suites=(0x0003, 0x0008, 0x0062)), HANDSHAKE_FAILURE),
    "RC4 and triple DES": (
        client_hello(TLS_1_2, suites=(0x0005, 0x000A, 0xC011, 0xC012)),
        HANDSHAKE_FAILURE,
    ),
    "no suite": (client_hello(TLS_1_2, suites=()), None),
    "no compression method": (client_hello(TLS_1_2, compressions=b"\1"), None),
    "an alert": (b"\x15\x03\x03\x00\x02\x02\x28", None),
    "data": (b"\x17\x03\x03\x00\x05hello", None),
    "a record that is too long": (b"\x16\x03\x03\xff\xff" + bytes(70_000), None),
    "a message that is too long": (b"\x16\x03\x03\x00\x04\x01\xff\xff\xff", None),
    "HTTP": (b"GET / HTTP/1.1\r\n\r\n", None),
    "Kafka's protocol": (VERSIONS, None),
    "half a megabyte of zeros": (bytes(1 << 19), None),
}


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize("name", REFUSED_HELLOS)
def test_other_protocols_and_weak_ones_get_an_alert_at_most(
    node: AttackedNode, listener: str, name: str
) -> None:
    hello, description = REFUSED_HELLOS[name]
    with node.connect(listener) as connection:
        connection.send_what_it_takes(hello)
        if name == "a message that is too long":
            connection.finish()
        answer = connection.receive_end()
    if description is not None:
        assert alert_in(answer) == description
    assert answer == b"" or (alert_in(answer) is not None and len(answer) == 7)


def test_the_hellos_are_well_formed(node: AttackedNode) -> None:
    """With a strong version and suite, the node goes on."""
    for hello in (client_hello(TLS_1_2), client_hello(TLS_1_2, supported_versions=(TLS_1_3,))):
        with node.connect("SECURE") as connection:
            connection.send(hello)
            assert connection.socket.recv(1) == b"\x16"


# ---- certificates


def is_accepted(node: AttackedNode, context: ssl.SSLContext) -> bool:
    """Whether the node answers a client of MUTUAL."""
    try:
        with node.connect("MUTUAL", tls=context) as connection:
            return bool(connection.send_request(ApiVersionsRequest(), 0).api_keys)
    except (ssl.SSLError, ConnectionError):
        return False


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("kind", ["none", "of an unknown authority", "expired", "revoked"])
def test_clients_without_a_valid_certificate_are_refused(
    node: AttackedNode, tmp_path: Path, kind: str, version: ssl.TLSVersion
) -> None:
    files: PemFiles | None = None
    if kind == "of an unknown authority":
        files = Authority(tmp_path).issue("mallory")
    elif kind == "expired":
        files = node.authority.issue("mallory", is_expired=True)
    elif kind == "revoked":
        files = node.revoked
    context = node.client_context(files)
    context.minimum_version = context.maximum_version = version
    assert not is_accepted(node, context)


def test_clients_with_a_valid_certificate_are_served(node: AttackedNode) -> None:
    assert is_accepted(node, node.client_context(node.authority.issue("alice")))


def test_a_certificate_of_a_stranger_does_not_name_the_broker(
    node: AttackedNode, tmp_path: Path
) -> None:
    """The other direction: a client refuses a broker that its authorities do not know."""
    context = ssl.create_default_context(cafile=str(Authority(tmp_path).truststore))
    with pytest.raises(ssl.SSLCertVerificationError), node.connect("SECURE", tls=context):
        pass


# ---- handshakes after the first


def test_clients_cannot_renegotiate(node: AttackedNode) -> None:
    context = node.client_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    # Otherwise OpenSSL does not even try.
    context.options &= ~ssl.OP_NO_RENEGOTIATION
    with TlsWire(node.address_of("SECURE"), context) as attacker:
        attacker.shake_hands()
        with pytest.raises(ssl.SSLError, match="NO_RENEGOTIATION"):
            attacker.renegotiate()


def test_key_updates_without_end_close_the_connection(node: AttackedNode) -> None:
    with TlsWire(node.address_of("SECURE"), node.client_context()) as attacker:
        attacker.shake_hands()
        cpu = node.cpu_seconds
        sent = 0
        # A megabyte would take the node half a second.
        for _ in range(40):
            attacker.write_key_updates(1_000)
            sent += attacker.flush()
        attacker.receive_end()
        assert sent > 1_000_000
        assert node.cpu_seconds - cpu < 0.4


def test_single_key_updates_are_answered(node: AttackedNode) -> None:
    with TlsWire(node.address_of("SECURE"), node.client_context()) as client:
        client.shake_hands()
        for _ in range(2):
            client.write_key_updates(1)
            client.send(VERSIONS)
            assert client.socket.recv(1 << 16)


def test_passwords_over_tls_are_needed_all_the_same(node: AttackedNode) -> None:
    with node.connect("SECURE", tls=node.client_context()) as connection:
        connection.send(framed(MetadataRequest(topics=None), 12))
        assert connection.receive_end() == b""
    with node.connect("SECURE", tls=node.client_context()) as connection:
        assert log_in(connection, scram("alice", PASSWORD)).error_code == 0
        assert connection.send_request(MetadataRequest(topics=None), 12).topics
