"""Configs of a node whose clients authenticate with SASL, and what such a client sends."""

from __future__ import annotations

from typing import Any, Final

from ottla.configs import Password
from ottla.security.sasl.scram_credential import salt_password
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ottla.wire.requests import decode_response
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode
from tests.support.nodes.wire_connection import framed

CLIENTS: Final = "CLIENTS"
PREFIX: Final = "listener.name.clients."
PASSWORD: Final = "alice's password"
SASL_CONFIGS: Final = {
    "listeners": f"PLAINTEXT://broker.example:9092,{CLIENTS}://broker.example:9093",
    "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{CLIENTS}:SASL_PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    f"{PREFIX}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    f"{PREFIX}plain.sasl.jaas.config": (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'user_alice="{PASSWORD}" user_bob="bob\'s password";'
    ),
}
HANDSHAKE_KEY: Final = 17
AUTHENTICATE_KEY: Final = 36
_SALT: Final = b"salt of alice"


def handshake(mechanism: str = "PLAIN") -> bytes:
    return framed(SaslHandshakeRequest(mechanism=mechanism), 1)


def authenticate(message: bytes) -> bytes:
    return framed(SaslAuthenticateRequest(auth_bytes=message), 2)


def plain(name: str, password: str, *, authorization_id: str = "") -> bytes:
    return authenticate(f"{authorization_id}\0{name}\0{password}".encode())


def handshake_response(answer: bytes) -> SaslHandshakeResponse:
    _, response = decode_response(answer, HANDSHAKE_KEY, 1)
    assert isinstance(response, SaslHandshakeResponse)
    return response


def authenticate_response(answer: bytes) -> SaslAuthenticateResponse:
    _, response = decode_response(answer, AUTHENTICATE_KEY, 2)
    assert isinstance(response, SaslAuthenticateResponse)
    return response


def log_in(client: ClientStream, name: str = "alice", password: str = PASSWORD) -> int:
    """The error code of the exchange, which is 0 if it succeeded."""
    client.feed(handshake() + plain(name, password))
    _, answer = client.answers()
    return authenticate_response(answer).error_code


def add_scram_user(node: OneNode, name: str, *, iterations: int = 4_096) -> int:
    upsertion = ScramCredentialUpsertion(
        name=name,
        mechanism=1,
        iterations=iterations,
        salt=_SALT,
        salted_password=salt_password("sha256", Password(PASSWORD), salt=_SALT, iterations=4_096),
    )
    request = AlterUserScramCredentialsRequest(upsertions=[upsertion])
    (result,) = node.send_request(request, 0).results
    node.run(node.broker.replicas.wait_applied())
    code: int = result.error_code
    return code


def connect(node: OneNode, **options: Any) -> ClientStream:
    return ClientStream(node, listener=CLIENTS, **options)
