"""A client is who it has proved to be, for as long as its session lasts.

Each section names the reports about other systems that it repeats here.
"""

from __future__ import annotations

import hmac
import ssl
from pathlib import Path
from typing import Any

import pytest

from ottla.configs import Password
from ottla.model import ErrorCode
from ottla.security.principal import ANONYMOUS, USER, Principal
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import ScramMechanism
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.metadata import MetadataRequest
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.nodes.wire_connection import framed
from tests.support.security.certificates import Authority
from tests.support.security.listeners import (
    CLIENTS,
    PASSWORD,
    PREFIX,
    SASL_CONFIGS,
    add_scram_user,
    authenticate,
    authenticate_response,
    connect,
    handshake,
    log_in,
    plain,
)

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
METADATA = framed(MetadataRequest(topics=[]), 12)


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    made = start_node(configs=SASL_CONFIGS)
    add_scram_user(made, "alice")
    return made


# ---- impersonation: CVE-2017-12610


def scram(*, authorization_id: str = "", name: str = "alice", password: str = PASSWORD) -> Any:
    client = ScramClient(ScramMechanism.SCRAM_SHA_256, name, Password(password), nonce="nonce")
    first = client.first_message()
    if authorization_id:
        first = first.replace(b"n,,", f"n,a={authorization_id},".encode())
    return client, first


def test_authorization_id_of_another_user_is_refused_with_plain(node: OneNode) -> None:
    client = connect(node)
    client.feed(handshake() + plain("alice", PASSWORD, authorization_id="bob"))
    assert authenticate_response(client.answers()[1]).error_code == FAILED
    assert client.is_closed
    client.end()


def test_authorization_id_of_another_user_is_refused_with_scram(node: OneNode) -> None:
    client = connect(node)
    _, first = scram(authorization_id="bob")
    client.feed(handshake("SCRAM-SHA-256") + authenticate(first))
    assert authenticate_response(client.answers()[1]).error_code == FAILED
    assert client.is_closed
    client.end()


@pytest.mark.parametrize("name", ["bob", "alice,a=bob", "Alice"])
def test_scram_credential_is_that_of_its_user(node: OneNode, name: str) -> None:
    client = connect(node)
    exchange, first = scram(name=name)
    client.receive(handshake("SCRAM-SHA-256") + authenticate(first))
    answers = client.answers()
    if len(answers) == 2:
        # An unknown user gets a challenge too.
        challenge = bytes(authenticate_response(answers[1]).auth_bytes)
        client.feed(authenticate(exchange.evaluate(challenge) or b""))
        answers = client.answers()
    else:
        node.clock.advance(1)
        answers = client.answers()
    assert authenticate_response(answers[-1]).error_code == FAILED
    client.end()


def test_principal_is_the_authenticated_user(node: OneNode) -> None:
    client = connect(node)
    assert client.session.rights.principal == ANONYMOUS
    exchange, first = scram()
    client.receive(handshake("SCRAM-SHA-256") + authenticate(first))
    challenge = bytes(authenticate_response(client.answers()[1]).auth_bytes)
    assert client.session.rights.principal == ANONYMOUS
    client.receive(authenticate(exchange.evaluate(challenge)))
    (answer,) = client.answers()
    response = authenticate_response(answer)
    assert response.error_code == 0
    assert exchange.evaluate(bytes(response.auth_bytes)) is None
    assert exchange.is_complete
    assert client.session.rights.principal == Principal(USER, "alice")
    client.end()


def test_requests_have_the_rights_of_the_user(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Principal] = []

    def answer(context: Any, _request: object) -> None:
        seen.append(context.rights.principal)

    monkeypatch.setitem(node.broker.apis[ApiKey.METADATA].__dict__, "handler", answer)
    client = connect(node)
    # ApiVersions in the same version, before authentication, must leave no context behind.
    client.feed(framed(ApiVersionsRequest(), 3))
    client.end()
    client = connect(node)
    early = framed(ApiVersionsRequest(), 1)
    client.receive(early + handshake() + plain("bob", "bob's password"))
    client.receive(framed(MetadataRequest(topics=[]), 1))
    client.receive(framed(MetadataRequest(topics=[]), 2))
    assert seen == [Principal(USER, "bob")] * 2
    client.end()


def test_overheard_proof_is_of_no_use(node: OneNode) -> None:
    """A replay of another connection's messages."""
    exchange, first = scram()
    client = connect(node)
    client.receive(handshake("SCRAM-SHA-256") + authenticate(first))
    challenge = bytes(authenticate_response(client.answers()[1]).auth_bytes)
    final = authenticate(exchange.evaluate(challenge))
    client.receive(final)
    assert authenticate_response(client.answers()[0]).error_code == 0
    # Once more on the same connection, which goes on.
    client.receive(final)
    assert authenticate_response(client.answers()[0]).error_code == ErrorCode.ILLEGAL_SASL_STATE
    client.end()
    other = connect(node)
    other.feed(handshake("SCRAM-SHA-256") + authenticate(first) + final)
    assert authenticate_response(other.answers()[2]).error_code == FAILED
    assert other.is_closed
    other.end()


def test_proof_without_the_first_message_is_refused(node: OneNode) -> None:
    client = connect(node)
    client.feed(handshake("SCRAM-SHA-256") + authenticate(b"c=biws,r=nonce,p=AAAA"))
    assert authenticate_response(client.answers()[1]).error_code == FAILED
    client.end()


def test_empty_messages_do_not_end_an_exchange(node: OneNode) -> None:
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        client = connect(node)
        client.feed(handshake(mechanism) + authenticate(b"") + METADATA)
        assert authenticate_response(client.answers()[1]).error_code == FAILED
        assert client.is_closed
        client.end()


# ---- the end of a session (KIP-368)


def test_session_that_has_expired_is_closed_at_the_next_request(start_node: StartNode) -> None:
    node = start_node(configs=SASL_CONFIGS | {f"{PREFIX}plain.connections.max.reauth.ms": "60000"})
    client = connect(node)
    client.receive(handshake() + plain("alice", PASSWORD))
    assert authenticate_response(client.answers()[1]).session_lifetime_ms == 60_000
    node.clock.advance(59)
    client.receive(METADATA)
    assert len(client.answers()) == 1
    node.clock.advance(2)
    client.receive(METADATA)
    assert client.answers() == []
    assert client.is_closed
    client.end()


def test_reauthentication_cannot_change_the_user(start_node: StartNode) -> None:
    node = start_node(configs=SASL_CONFIGS | {f"{PREFIX}plain.connections.max.reauth.ms": "60000"})
    client = connect(node)
    client.receive(handshake() + plain("alice", PASSWORD))
    client.answers()
    node.clock.advance(30)
    client.receive(handshake() + plain("alice", PASSWORD))
    assert authenticate_response(client.answers()[1]).error_code == 0
    node.clock.advance(30)
    client.feed(handshake() + plain("bob", "bob's password") + METADATA)
    answers = client.answers()
    assert len(answers) == 2
    assert authenticate_response(answers[1]).error_code == FAILED
    assert client.is_closed
    client.end()


# ---- SCRAM iterations and timing: CVE-2026-10143, CVE-2021-38153


@pytest.mark.parametrize("iterations", [-1, 0, 1, 4_095, 16_385, 2**31 - 1])
def test_credential_with_other_iterations_is_not_stored(node: OneNode, iterations: int) -> None:
    assert add_scram_user(node, "bob", iterations=iterations) == ErrorCode.UNACCEPTABLE_CREDENTIAL
    assert ("bob", ScramMechanism.SCRAM_SHA_256) not in node.image.scram_credentials


def challenge_of(node: OneNode, name: str) -> tuple[str, str]:
    """The salt and the iterations that a client of this name gets."""
    client = connect(node)
    _, first = scram(name=name)
    client.receive(handshake("SCRAM-SHA-256") + authenticate(first))
    response = authenticate_response(client.answers()[1])
    assert response.error_code == 0
    client.end()
    nonce, salt, iterations = bytes(response.auth_bytes).decode().split(",")
    assert nonce.startswith("r=nonce")
    return salt, iterations


@pytest.mark.parametrize("iterations", [4_096, 8_192])
def test_challenge_has_the_same_form_for_an_unknown_user(
    start_node: StartNode, iterations: int
) -> None:
    node = start_node(configs=SASL_CONFIGS)
    add_scram_user(node, "alice", iterations=iterations)
    known, unknown = challenge_of(node, "alice"), challenge_of(node, "mallory")
    assert unknown[1] == known[1] == f"i={iterations}"
    assert len(unknown[0]) == len(known[0])
    # The salt of a user does not change, and neither does that of an unknown one.
    assert (known, unknown) == (challenge_of(node, "alice"), challenge_of(node, "mallory"))
    assert challenge_of(node, "trudy") != unknown


@pytest.mark.parametrize("configs", [{}, {"delegation.token.secret.key": "of all nodes"}])
def test_challenge_of_an_unknown_user_is_the_same_after_a_restart(
    start_node: StartNode, configs: dict[str, str]
) -> None:
    node = start_node(configs=SASL_CONFIGS | configs)
    before = challenge_of(node, "mallory")
    disk = node.crash()
    again = start_node(disk, configs=SASL_CONFIGS | configs, seed=1)
    assert challenge_of(again, "mallory") == before


def test_secrets_are_compared_in_constant_time_for_unknown_users_too(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    compare = hmac.compare_digest

    def counted(left: Any, right: Any) -> bool:
        compared.append(len(left))
        return compare(left, right)

    monkeypatch.setattr(hmac, "compare_digest", counted)
    counts = []
    for name, password in (("alice", "wrong"), ("mallory", "wrong"), ("alice", PASSWORD)):
        compared.clear()
        client = connect(node)
        log_in(client, name, password)
        client.end()
        client = connect(node)
        exchange, first = scram(name=name, password=password)
        client.receive(handshake("SCRAM-SHA-256") + authenticate(first))
        challenge = bytes(authenticate_response(client.answers()[1]).auth_bytes)
        client.feed(authenticate(exchange.evaluate(challenge)))
        client.end()
        counts.append(list(compared))
    # The password's hash; the nonce, whose length varies; the stored key.
    assert [(first, last) for first, _, last in counts] == [(32, 32)] * 3


# ---- certificates of clients


def tls_configs(authority: Authority, rules: str) -> dict[str, str]:
    files = authority.issue("broker")
    return {
        "listeners": f"PLAINTEXT://broker.example:9092,{CLIENTS}://broker.example:9093",
        "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{CLIENTS}:SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        f"{PREFIX}ssl.keystore.type": "PEM",
        f"{PREFIX}ssl.keystore.location": str(files.keystore),
        f"{PREFIX}ssl.truststore.type": "PEM",
        f"{PREFIX}ssl.truststore.location": str(files.truststore),
        f"{PREFIX}ssl.client.auth": "required",
        f"{PREFIX}ssl.principal.mapping.rules": rules,
        "ottla.audit.log": "/data/audit.log",
    }


def certificate_of(authority: Authority, name: str) -> bytes:
    pem = authority.issue(name).keystore.read_text()
    start = pem.index("-----BEGIN CERTIFICATE-----")
    end = pem.index("-----END CERTIFICATE-----", start)
    return ssl.PEM_cert_to_DER_cert(pem[start:end] + "-----END CERTIFICATE-----\n")


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ("RULE:^CN=bob,.*$/bob/,RULE:^CN=(.*?),.*$/$1/", "alice"),
        ("RULE:^CN=(.*?),.*$/$1/U", "ALICE"),
    ],
)
def test_principal_is_the_mapped_subject_of_the_certificate(
    start_node: StartNode, tmp_path: Path, rules: str, name: str
) -> None:
    authority = Authority(tmp_path)
    node = start_node(configs=tls_configs(authority, rules))
    client = connect(node, certificate=certificate_of(authority, "alice"))
    client.feed(METADATA)
    assert len(client.answers()) == 1
    assert client.session.rights.principal == Principal(USER, name)
    client.end()


def test_certificate_without_a_mapping_rule_is_served_nothing(
    start_node: StartNode, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    node = start_node(configs=tls_configs(authority, "RULE:^CN=bob,.*$/bob/"))
    client = connect(node, certificate=certificate_of(authority, "alice"))
    client.feed(METADATA)
    assert client.answers() == []
    assert client.is_closed
    client.end()
    assert node.broker.audit_log is not None
    node.run(node.broker.audit_log.close())
    written = node.disk.content("/data/audit.log")
    assert b'"mechanism":"TLS","allowed":false' in written
