"""What a client can do before it has authenticated, and how much memory that takes.

Each section names the reports about other systems that it repeats here.
"""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable

import pytest

from ottla.model import ErrorCode
from ottla.security.principal import ANONYMOUS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.metadata import MetadataRequest
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.nodes.wire_connection import framed, with_size
from tests.support.security.listeners import (
    PASSWORD,
    PREFIX,
    SASL_CONFIGS,
    add_scram_user,
    authenticate_response,
    connect,
    handshake,
    handshake_response,
    log_in,
    plain,
)

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
METADATA = framed(MetadataRequest(topics=[]), 12)
RECEIVE_BYTES_MAX = 50_000
ALLOWED_BEFORE = (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE)


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    made = start_node(
        configs=SASL_CONFIGS | {f"{PREFIX}sasl.server.max.receive.size": str(RECEIVE_BYTES_MAX)}
    )
    add_scram_user(made, "alice")
    return made


class Watched:
    """Handlers that record that they were called."""

    def __init__(self, node: OneNode, monkeypatch: pytest.MonkeyPatch) -> None:
        self.called: list[ApiKey] = []
        for key, api in node.broker.apis.items():
            if key not in (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE, ApiKey.API_VERSIONS):
                monkeypatch.setitem(api.__dict__, "handler", self._recording(api.key))

    def _recording(self, key: ApiKey) -> Callable[..., None]:
        def record(*_: object) -> None:
            self.called.append(key)

        return record


# ---- nothing is served before authentication


def test_no_other_request_is_decoded_or_answered_before_authentication(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(node, monkeypatch)
    for key, api in node.broker.apis.items():
        if key in ALLOWED_BEFORE:
            continue
        for before in (b"", handshake()):
            if before and key == ApiKey.SASL_AUTHENTICATE:
                continue
            client = connect(node)
            client.receive(before)
            answered = len(client.answers())
            # A body that no schema allows: it is not even looked at.
            header = struct.pack(">hhih", key, api.versions[-1], 7, -1)
            client.receive(with_size(header + b"\x00" + b"\xff" * 30))
            assert client.is_closed, api.key.name
            assert client.answers() == []
            assert answered == bool(before)
            client.end()
    assert watched.called == []


def test_requests_behind_a_failed_authentication_are_not_served(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(node, monkeypatch)
    client = connect(node)
    client.feed(handshake() + plain("alice", "wrong") + METADATA + plain("alice", PASSWORD))
    assert len(client.answers()) == 2
    assert client.is_closed
    assert watched.called == []
    client.end()


def test_requests_behind_a_successful_authentication_are_served(node: OneNode) -> None:
    client = connect(node)
    client.feed(framed(ApiVersionsRequest(), 3) + handshake() + plain("alice", PASSWORD) + METADATA)
    assert len(client.answers()) == 4
    assert not client.is_closed
    client.end()


UNSUPPORTED_VERSIONS = with_size(struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 7, -1) + b"\0")


@pytest.mark.parametrize("request_bytes", [framed(ApiVersionsRequest(), 3), UNSUPPORTED_VERSIONS])
def test_versions_are_answered_twice_only(node: OneNode, request_bytes: bytes) -> None:
    client = connect(node)
    client.receive(request_bytes * 3)
    assert len(client.answers()) == 2
    assert client.is_closed
    client.end()


def test_versions_are_not_answered_during_an_exchange(node: OneNode) -> None:
    client = connect(node)
    client.receive(handshake() + UNSUPPORTED_VERSIONS)
    assert len(client.answers()) == 1
    assert client.is_closed
    client.end()


def test_failure_is_answered_after_a_delay_and_closes_the_connection(node: OneNode) -> None:
    client = connect(node)
    client.receive(handshake() + plain("alice", "wrong"))
    assert len(client.answers()) == 1
    node.clock.advance(0.09)
    assert client.answers() == []
    node.clock.advance(0.02)
    (answer,) = client.answers()
    response = authenticate_response(answer)
    assert response.error_code == FAILED
    assert bytes(response.auth_bytes) == b""
    assert client.is_closed
    client.end()


def test_client_that_sends_slowly_has_one_deadline(node: OneNode) -> None:
    client = connect(node)
    whole = handshake() + plain("alice", PASSWORD)
    for position in range(len(whole) - 1):
        client.receive(whole[position : position + 1])
        node.clock.advance(1)
        if client.is_closed:
            break
    assert client.is_closed
    assert position <= 60
    client.end()


def test_deadline_ends_with_authentication(node: OneNode) -> None:
    client = connect(node)
    assert log_in(client) == 0
    node.clock.advance(100)
    assert not client.is_closed
    client.end()


# ---- memory before authentication: CVE-2022-34917, CVE-2026-111108, CVE-2026-111115


@pytest.mark.parametrize("size", [RECEIVE_BYTES_MAX + 1, 1 << 20, 2**31 - 1, -1, -(2**31)])
@pytest.mark.parametrize("before", [b"", handshake()])
def test_size_beyond_the_limit_closes_the_connection(
    node: OneNode, size: int, before: bytes
) -> None:
    client = connect(node)
    client.receive(before + struct.pack(">i", size))
    assert client.is_closed
    client.end()


def test_limit_is_that_of_requests_after_authentication(node: OneNode) -> None:
    client = connect(node)
    assert log_in(client) == 0
    large = framed(MetadataRequest(topics=[]), 12) + struct.pack(">i", RECEIVE_BYTES_MAX + 1)
    client.feed(large)
    assert len(client.answers()) == 1
    assert not client.is_closed
    client.end()


@pytest.mark.parametrize("before", [b"", framed(ApiVersionsRequest(), 3)])
def test_announced_size_takes_no_memory(start_node: StartNode, before: bytes) -> None:
    node = start_node(configs=SASL_CONFIGS)
    first = connect(node)
    first.receive(before)
    tracemalloc.start()
    try:
        clients = [connect(node) for _ in range(50)]
        for client in clients:
            client.receive(before + struct.pack(">i", 524_288) + b"x")
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not any(client.is_closed for client in clients)
    assert used / len(clients) < 90_000
    for client in (first, *clients):
        client.end()


HEADER = struct.pack(">hhih", ApiKey.SASL_AUTHENTICATE, 2, 1, -1)


@pytest.mark.parametrize(
    "body",
    [
        # More tags of the header, more bytes and more tags of the body than there are.
        b"\xff\xff\xff\xff\x0f",
        b"\x00\xff\xff\xff\xff\x0f",
        b"\x00\x02x\xff\xff\xff\xff\x0f",
        b"\x00\x02x\x01\x00\xff\xff\xff\xff\x0f",
        b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x00\x00",
        b"\x00",
        b"",
    ],
)
def test_announced_counts_take_no_memory(node: OneNode, body: bytes) -> None:
    client = connect(node)
    client.receive(handshake())
    client.answers()
    tracemalloc.start()
    try:
        client.receive(with_size(HEADER + body))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert client.is_closed
    assert peak < 300_000
    client.end()


def test_closed_connections_leave_nothing(node: OneNode) -> None:
    for _ in range(20):
        client = connect(node)
        client.feed(handshake() + plain("alice", "wrong"))
        client.end()
    assert len(node.broker.connections) == 0


# ---- mechanisms that are not enabled, and listeners without SASL


@pytest.mark.parametrize("mechanism", ["GSSAPI", "SCRAM-SHA-512", "OAUTHBEARER", "plain", "", "\0"])
def test_only_enabled_mechanisms_are_offered(node: OneNode, mechanism: str) -> None:
    client = connect(node)
    client.feed(handshake(mechanism))
    (answer,) = client.answers()
    response = handshake_response(answer)
    assert response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert response.mechanisms == ["PLAIN", "SCRAM-SHA-256"]
    assert client.is_closed
    client.end()


def test_listener_without_sasl_refuses_it_and_goes_on(node: OneNode) -> None:
    client = ClientStream(node)
    client.feed(handshake() + plain("alice", PASSWORD) + METADATA)
    chosen, refused, _ = client.answers()
    assert handshake_response(chosen).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert authenticate_response(refused).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert client.session.rights.principal == ANONYMOUS
    client.end()
