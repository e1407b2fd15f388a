"""SASL over a real connection, message by message, by clients that do it right or wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

from ottla.configs import Password
from ottla.security.sasl.mechanism import Mechanism
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import SCRAM_BY_NAME
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.nodes.wire_connection import WireConnection


class Refusal(NamedTuple):
    """The last response of an exchange."""

    code: int
    text: str | None


def refused(response: SaslAuthenticateResponse) -> Refusal:
    return Refusal(response.error_code, response.error_message)


def choose(connection: WireConnection, mechanism: str, version: int = 1) -> Any:
    """The response to SaslHandshake."""
    return connection.send_request(SaslHandshakeRequest(mechanism=mechanism), version)


def say(connection: WireConnection, message: bytes) -> SaslAuthenticateResponse:
    """The response to one message of an exchange."""
    response = connection.send_request(SaslAuthenticateRequest(auth_bytes=message), 2)
    assert isinstance(response, SaslAuthenticateResponse)
    return response


def plain(name: str, password: str, *, authorization_id: str = "") -> bytes:
    return f"{authorization_id}\0{name}\0{password}".encode()


def scram(
    name: str,
    password: str,
    *,
    mechanism: str = Mechanism.SCRAM_SHA_256,
    nonce: str = "nonce",
    is_token: bool = False,
) -> ScramClient:
    return ScramClient(
        SCRAM_BY_NAME[mechanism], name, Password(password), nonce=nonce, is_token=is_token
    )


def log_in(
    connection: WireConnection,
    client: ScramClient,
    *,
    final_changed: tuple[bytes, bytes] = (b"", b""),
) -> SaslAuthenticateResponse:
    """Does the whole exchange. Returns the last response."""
    assert choose(connection, client.name).error_code == 0
    challenge = say(connection, client.first_message())
    if challenge.error_code:
        return challenge
    final = client.evaluate(bytes(challenge.auth_bytes))
    assert final is not None
    return say(connection, final.replace(*final_changed))


def log_in_plainly(
    connection: WireConnection, name: str, password: str
) -> SaslAuthenticateResponse:
    assert choose(connection, Mechanism.PLAIN).error_code == 0
    return say(connection, plain(name, password))
