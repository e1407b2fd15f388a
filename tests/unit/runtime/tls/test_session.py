"""What a peer can make OpenSSL do and hold."""

from __future__ import annotations

import gc
import ssl
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.runtime.tls.contexts import client_context, server_context
from ottla.runtime.tls.session import TlsSession
from tests.support.security.certificates import Authority, tls_settings


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


class Pair:
    """A client and a server, between which bytes are moved on request."""

    def __init__(self, authority: Authority) -> None:
        files = authority.issue("broker")
        trusting = tls_settings(None, truststore=authority.truststore)
        self.server = TlsSession(server_context(tls_settings(files)), is_server=True)
        self.client = TlsSession(client_context(trusting), is_server=False, server_name="localhost")
        self.client.step_handshake()
        for _ in range(2):
            self.move(self.client, self.server)
            self.server.step_handshake()
            self.move(self.server, self.client)
            self.client.step_handshake()
        self.read(self.client)

    def move(self, sender: TlsSession, receiver: TlsSession) -> None:
        receive(receiver, sender.take_encrypted())

    def read(self, session: TlsSession) -> bytes:
        buffer = bytearray(1 << 20)
        return bytes(buffer[: session.decrypt_into(buffer)])


def receive(session: TlsSession, data: bytes) -> None:
    while data:
        buffer = session.receive_buffer
        size = min(len(buffer), len(data))
        buffer[:size] = data[:size]
        session.received(size)
        data = data[size:]


@pytest.fixture
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_released_session_frees_the_memory_of_openssl_at_once(
    authority: Authority, no_collection: None
) -> None:
    """A connection and its session are part of a cycle, which the collector finds late."""
    pair = Pair(authority)
    for session in (pair.server, pair.client):
        found = weakref.ref(session._tls)
        session.release()
        assert found() is None


def test_released_session_has_nothing_to_send(authority: Authority) -> None:
    pair = Pair(authority)
    pair.server.encrypt(b"hello")
    pair.server.release()
    assert pair.server.take_encrypted() == b""


def test_buffer_is_small_until_data_arrives(authority: Authority) -> None:
    pair = Pair(authority)
    small = len(pair.server.receive_buffer)
    pair.client.encrypt(bytes(100_000))
    pair.move(pair.client, pair.server)
    assert pair.read(pair.server) == bytes(100_000)
    large = len(pair.server.receive_buffer)
    assert small <= 4_096
    assert large >= 1 << 16
    # A ticket of TLS 1.3, or anything else without data.
    pair.server._received, pair.server._decrypted = 100, 0
    assert len(pair.server.receive_buffer) == small


def test_bytes_without_data_are_abuse_when_they_are_many(authority: Authority) -> None:
    pair = Pair(authority)
    data = bytes(16_384)
    for _ in range(20):
        pair.client.encrypt(data)
        pair.move(pair.client, pair.server)
        assert pair.read(pair.server) == data
        assert not pair.server.is_abused
    # Not even a whole record, and no data in it.
    for _ in range(17):
        pair.server.received(4_096)
    assert pair.server.is_abused


def test_old_protocols_are_off_whatever_the_host_allows(authority: Authority) -> None:
    context = server_context(tls_settings(authority.issue("broker")))
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.options & ssl.OP_NO_RENEGOTIATION
    assert context.options & ssl.OP_NO_COMPRESSION
    weak = ("NULL", "RC4", "3DES", "EXPORT", "MD5", "ADH", "AECDH")
    assert not [
        each["name"] for each in context.get_ciphers() if any(w in each["name"] for w in weak)
    ]
