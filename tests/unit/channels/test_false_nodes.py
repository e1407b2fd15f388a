"""What a false node cannot do to this side of a SASL exchange: keep it busy, take its memory, get
the password, or pass for a node that knows it.

It repeats CVE-2026-10143 (a number of iterations that keeps the client busy) and CVE-2017-12610.
"""

from __future__ import annotations

import asyncio
import re
import struct
import time
from collections.abc import Callable

import pytest

from ottla.channels import Channel, ChannelError
from ottla.channels.channel_security import ChannelSecurity
from ottla.configs.value import Password
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork
from ottla.security.sasl.mechanism import ClientMechanism
from ottla.security.sasl.oauthbearer import OAuthBearerClient
from ottla.security.sasl.plain import PlainClient
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import ScramMechanism
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode

PASSWORD = "planted password"
SECONDS_MAX = 1.0
Answer = Callable[[bytes], bytes]


def scram() -> ClientMechanism:
    return ScramClient(
        ScramMechanism.SCRAM_SHA_256, "alice", Password(PASSWORD), nonce="clientnonce"
    )


def plain() -> ClientMechanism:
    return PlainClient("alice", Password(PASSWORD))


def bearer() -> ClientMechanism:
    return OAuthBearerClient(lambda: Password("a.b.c"))


class FalseNode(ScriptedNode):
    """Accepts every mechanism, and answers each message with `respond`."""

    def __init__(self, respond: Answer, *, handshake: SaslHandshakeResponse | None = None) -> None:
        super().__init__(self._answer)
        self.messages: list[bytes] = []
        self._respond = respond
        self._handshake = handshake or SaslHandshakeResponse()

    def _answer(self, request: Message) -> Message:
        if isinstance(request, SaslHandshakeRequest):
            return self._handshake
        assert isinstance(request, SaslAuthenticateRequest)
        self.messages.append(bytes(request.auth_bytes))
        return SaslAuthenticateResponse(auth_bytes=self._respond(self.messages[-1]))


def refusal_of(node: ScriptedNode, mechanism: Callable[[], ClientMechanism]) -> str:
    async def connect() -> str:
        address = await node.listen()
        try:
            with pytest.raises(ChannelError) as refused:
                await Channel.connect(
                    SystemNetwork(),
                    SystemClock(),
                    address,
                    client_id="a",
                    timeout_ms=20_000,
                    security=ChannelSecurity(mechanism=mechanism),
                )
            return str(refused.value)
        finally:
            node.stop()

    started = time.perf_counter()
    text = asyncio.run(asyncio.wait_for(connect(), 30))
    assert time.perf_counter() - started < SECONDS_MAX
    assert PASSWORD not in text
    return text


def challenge(iterations: str, *, nonce: str = "clientnonceserver") -> Answer:
    return lambda _message: f"r={nonce},s=c2FsdHNhbHQ=,i={iterations}".encode()


@pytest.mark.parametrize(
    "iterations",
    ["16385", "1000000", "999999999", "2147483647", "99999999999999999999", "4095", "1", "0", "-1"],
)
def test_absurd_numbers_of_iterations_are_refused_at_once(iterations: str) -> None:
    node = FalseNode(challenge(iterations))
    assert "iterations" in refusal_of(node, scram)
    # No proof was sent, with which the password could be guessed.
    assert len(node.messages) == 1


@pytest.mark.parametrize(
    ("respond", "reason"),
    [
        (challenge("4096", nonce="othernonce"), "nonce does not continue"),
        (challenge("4096", nonce="clientnonce"), "nonce does not continue"),
        (lambda _message: b"", "too few attributes"),
        (lambda _message: b"v=AAAA", "too few attributes"),
    ],
)
def test_challenges_that_no_node_sends_get_no_proof(respond: Answer, reason: str) -> None:
    node = FalseNode(respond)
    assert reason in refusal_of(node, scram)
    assert len(node.messages) == 1


@pytest.mark.parametrize("final", [b"", b"v=AAAA", b"v=" + b"A" * 43 + b"=", b"e=other-error"])
def test_a_node_that_does_not_know_the_password_is_refused(final: bytes) -> None:
    def respond(message: bytes) -> bytes:
        return challenge("4096")(message) if message.startswith(b"n,,") else final

    node = FalseNode(respond)
    assert re.search("does not know|reports an error|attribute", refusal_of(node, scram))
    assert PASSWORD.encode() not in b"".join(node.messages)


def test_a_node_that_leaves_out_its_proof_is_refused() -> None:
    """Success at once, as after PLAIN."""
    assert "too few attributes" in refusal_of(FalseNode(lambda _message: b""), scram)


@pytest.mark.parametrize("offered", [[], ["PLAIN"], ["PLAIN", "OAUTHBEARER"]])
def test_a_weaker_mechanism_that_is_offered_is_not_used(offered: list[str]) -> None:
    refused = SaslHandshakeResponse(error_code=33, mechanisms=offered)
    node = FalseNode(lambda _message: b"", handshake=refused)
    assert "UNSUPPORTED_SASL_MECHANISM" in refusal_of(node, scram)
    assert node.messages == []


@pytest.mark.parametrize("mechanism", [plain, bearer])
def test_an_exchange_that_never_ends_is_ended(mechanism: Callable[[], ClientMechanism]) -> None:
    node = FalseNode(lambda _message: b"more")
    refusal_of(node, mechanism)
    assert len(node.messages) <= 2


@pytest.mark.parametrize("size", [512 * 1024 + 1, 100 << 20, 2**31 - 1])
def test_large_answers_are_refused_before_authentication(size: int) -> None:
    class Announcing(ScriptedNode):
        def answer_all(self, _request: Message) -> None:
            self.connections[0].connection.write([struct.pack(">i", size)])

    node = Announcing()
    node.answer = node.answer_all
    assert f"a frame of {size} bytes" in refusal_of(node, scram)
