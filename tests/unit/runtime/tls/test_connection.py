"""TLS over real sockets of this host: order, pressure, files, and every refused handshake."""

from __future__ import annotations

import asyncio
import socket  # noqa: TID251 - a peer that does not speak TLS
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ottla.configs.listener_security import Store, TlsSettings
from ottla.configs.value import Password
from ottla.runtime.network import Address, Connection
from ottla.runtime.system_disk import SystemDisk
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tls.endpoint import TlsEndpoint
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.runtime.tls.stores import StoreError
from ottla.security.distinguished_name import subject_of
from tests.support.event_loops import each_event_loop, run
from tests.support.security.certificates import Authority, PemFiles, tls_settings

__all__ = ["each_event_loop"]

ANY_PORT = Address("127.0.0.1", 0)
MUCH = 24 << 20


class Recorder:
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.error: Exception | None = None
        self.pressure: list[str] = []
        self.connection: Connection
        self.is_closed = asyncio.Event()
        self._arrived = asyncio.Event()
        self._buffer = bytearray(1 << 16)

    def connected(self, connection: Connection) -> None:
        self.connection = connection

    def get_buffer(self, size_hint: int) -> bytearray:
        return self._buffer

    def buffer_filled(self, length: int) -> None:
        self.received += self._buffer[:length]
        self._arrived.set()

    def pause_writing(self) -> None:
        self.pressure.append("pause")

    def resume_writing(self) -> None:
        self.pressure.append("resume")

    def closed(self, error: Exception | None) -> None:
        self.error = error
        self.is_closed.set()
        self._arrived.set()

    async def wait_received(self, length: int) -> bytes:
        async with asyncio.timeout(20):
            while len(self.received) < length and not self.is_closed.is_set():
                self._arrived.clear()
                await self._arrived.wait()
        return bytes(self.received)


async def next_turn() -> None:
    await asyncio.sleep(0)  # noqa: TID251 - what is waited for is reported by callback


class Pair:
    """A listener with TLS, and clients that connect to it."""

    def __init__(self, server: TlsSettings, *, handshake_seconds_max: float = 10.0) -> None:
        self.endpoint = TlsEndpoint(
            server, is_server=True, handshake_seconds_max=handshake_seconds_max
        )
        self.accepted: list[Recorder] = []
        self._clients: list[Recorder] = []

    async def listen(self) -> None:
        self._listener = await SystemNetwork().listen(ANY_PORT, self.endpoint.secure(self._accept))
        self.address = self._listener.address

    async def connect(self, client: TlsSettings) -> Recorder:
        recorder = Recorder()
        self._clients.append(recorder)
        endpoint = TlsEndpoint(client, is_server=False)
        async with asyncio.timeout(20):
            recorder.connection = await endpoint.connect(SystemNetwork(), self.address, recorder)
        return recorder

    async def close(self) -> None:
        self._listener.close()
        for each in (*self._clients, *self.accepted):
            each.connection.abort()
        for each in (*self._clients, *self.accepted):
            await each.is_closed.wait()

    def _accept(self) -> Recorder:
        self.accepted.append(Recorder())
        return self.accepted[-1]


def play(story: Callable[[Pair], Awaitable[None]], server: TlsSettings, **options: float) -> None:
    async def whole() -> None:
        pair = Pair(server, **options)
        await pair.listen()
        try:
            await story(pair)
        finally:
            await pair.close()

    run(whole())


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def files(authority: Authority) -> PemFiles:
    return authority.issue("broker")


def client_of(authority: Authority, **options: object) -> TlsSettings:
    return tls_settings(None, truststore=authority.truststore, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_bytes_arrive_in_order_both_ways(
    authority: Authority, files: PemFiles, version: str
) -> None:
    async def story(pair: Pair) -> None:
        client = await pair.connect(client_of(authority, protocols=(version,)))
        client.connection.write([b"one ", b"two ", b"three"])
        (server,) = pair.accepted
        assert await server.wait_received(13) == b"one two three"
        data = bytes(range(256)) * (MUCH // 256)
        server.connection.write([data[:100], data[100:]])
        server.connection.write([b"the end"])
        assert await client.wait_received(MUCH + 7) == data + b"the end"
        server.connection.close()
        await client.is_closed.wait()
        await server.is_closed.wait()
        assert (client.error, server.error) == (None, None)

    play(story, tls_settings(files))


def test_files_are_sent_encrypted_and_in_order_even_if_they_are_removed(
    authority: Authority, files: PemFiles, tmp_path: Path
) -> None:
    path = tmp_path / "segment"
    content = bytes(range(251)) * (MUCH // 251)
    path.write_bytes(content)

    async def story(pair: Pair) -> None:
        client = await pair.connect(client_of(authority))
        client.connection.write([b"?"])
        (server,) = pair.accepted
        await server.wait_received(1)
        file = SystemDisk().open(str(path))
        server.connection.write([b"before"])
        server.connection.send_file(file, position=7, length=len(content) - 7)
        server.connection.write([b"after"])
        file.close()
        path.unlink()
        received = await client.wait_received(len(content) + 4)
        assert received == b"before" + content[7:] + b"after"

    play(story, tls_settings(files))


def test_slow_reader_pauses_the_writer_and_memory_stays_bounded(
    authority: Authority, files: PemFiles
) -> None:
    async def story(pair: Pair) -> None:
        client = await pair.connect(client_of(authority))
        client.connection.write([b"?"])
        (server,) = pair.accepted
        await server.wait_received(1)
        client.connection.pause_reading()
        server.connection.write([bytes(MUCH)])
        async with asyncio.timeout(20):
            while "pause" not in server.pressure:
                await next_turn()
        client.connection.resume_reading()
        assert len(await client.wait_received(MUCH)) == MUCH
        async with asyncio.timeout(20):
            while server.pressure[-1] != "resume":
                await next_turn()

    play(story, tls_settings(files))


def test_client_certificate_names_its_owner(authority: Authority, files: PemFiles) -> None:
    alice = authority.issue("alice")

    async def story(pair: Pair) -> None:
        client = await pair.connect(tls_settings(alice))
        client.connection.write([b"?"])
        (server,) = pair.accepted
        await server.wait_received(1)
        certificate = server.connection.peer_certificate
        assert certificate is not None
        assert "CN=alice" in subject_of(certificate)
        assert "O=Ottla tests" in subject_of(certificate)

    play(story, tls_settings(files, client_auth="required"))


def test_client_without_certificate_is_refused_where_one_is_required(
    authority: Authority, files: PemFiles
) -> None:
    async def story(pair: Pair) -> None:
        try:
            client = await pair.connect(client_of(authority))
        except TlsHandshakeError:
            return
        # In TLS 1.3 the client learns of it after its own part of the handshake.
        await client.is_closed.wait()
        assert isinstance(client.error, TlsHandshakeError)
        assert "the peer requires a certificate" in str(client.error)
        assert not client.error.is_untrusted
        (server,) = pair.accepted
        assert isinstance(server.error, TlsHandshakeError)
        assert "the peer has no certificate" in str(server.error)
        assert not server.received

    play(story, tls_settings(files, client_auth="required"))


def test_client_of_another_authority_is_refused_where_certificates_are_requested(
    authority: Authority, files: PemFiles, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "other").issue("mallory")
    mixed = PemFiles(stranger.keystore, authority.truststore)

    async def story(pair: Pair) -> None:
        try:
            client = await pair.connect(tls_settings(mixed))
        except TlsHandshakeError:
            return
        await client.is_closed.wait()
        assert "the peer does not trust the certificate" in str(client.error)
        assert isinstance(pair.accepted[0].error, TlsHandshakeError)

    play(story, tls_settings(files, client_auth="requested"))


def test_server_of_an_unknown_authority_is_refused(files: PemFiles, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other")

    async def story(pair: Pair) -> None:
        with pytest.raises(TlsHandshakeError, match="certificate verify failed") as refusal:
            await pair.connect(client_of(other))
        assert refusal.value.is_untrusted

    play(story, tls_settings(files))


def test_expired_certificate_is_refused(authority: Authority) -> None:
    async def story(pair: Pair) -> None:
        with pytest.raises(TlsHandshakeError, match="expired"):
            await pair.connect(client_of(authority))

    play(story, tls_settings(authority.issue("late", is_expired=True)))


def test_old_versions_are_refused(authority: Authority, files: PemFiles) -> None:
    async def story(pair: Pair) -> None:
        with pytest.raises(TlsHandshakeError):
            await pair.connect(client_of(authority, protocols=("TLSv1.2",)))

    play(story, tls_settings(files, protocols=("TLSv1.3",)))


@pytest.mark.parametrize(
    "first_bytes", [b"", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00\x00\x04\x00\x12"]
)
def test_half_a_handshake_ends_within_the_deadline(files: PemFiles, first_bytes: bytes) -> None:
    async def story(pair: Pair) -> None:
        reader, writer = await asyncio.open_connection(*pair.address)
        writer.write(first_bytes)
        async with asyncio.timeout(5):
            # At most an alert, never anything in plaintext.
            answer = await reader.read()
        assert answer[:1] in (b"", b"\x15")
        writer.close()
        (server,) = pair.accepted
        assert server.error is not None
        assert not server.received

    play(story, tls_settings(files), handshake_seconds_max=0.3)


def test_invalid_record_closes_the_connection(authority: Authority, files: PemFiles) -> None:
    async def story(pair: Pair) -> None:
        context = ssl.create_default_context(cafile=str(authority.truststore))
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        reader, writer = await asyncio.open_connection(*pair.address)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                writer.write(outgoing.read())
                incoming.write(await reader.read(65536))
        writer.write(outgoing.read())
        tls.write(b"hello")
        record = bytearray(outgoing.read())
        record[-1] ^= 1
        writer.write(bytes(record))
        async with asyncio.timeout(5):
            await reader.read()
            await pair.accepted[0].is_closed.wait()
        writer.close()
        assert isinstance(pair.accepted[0].error, ssl.SSLError)
        assert not pair.accepted[0].received

    play(story, tls_settings(files))


def test_changed_certificates_are_used_by_the_next_connection(
    authority: Authority, files: PemFiles
) -> None:
    async def story(pair: Pair) -> None:
        first = await pair.connect(client_of(authority))
        assert "CN=broker" in subject_of(first.connection.peer_certificate or b"")
        assert not pair.endpoint.reload_if_changed()
        authority.issue("next").keystore.replace(files.keystore)
        assert pair.endpoint.reload_if_changed() == {str(files.keystore)}
        second = await pair.connect(client_of(authority))
        assert "CN=next" in subject_of(second.connection.peer_certificate or b"")
        first.connection.write([b"?"])
        await pair.accepted[0].wait_received(1)

    play(story, tls_settings(files))


def test_broken_certificates_leave_the_old_ones_in_use(
    authority: Authority, files: PemFiles
) -> None:
    async def story(pair: Pair) -> None:
        files.keystore.write_text("half of a fil")
        with pytest.raises(StoreError, match="cannot be used"):
            pair.endpoint.reload_if_changed()
        assert not pair.endpoint.reload_if_changed()
        await pair.connect(client_of(authority))

    play(story, tls_settings(files))


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "cannot be used"), ("-----BEGIN CERTIFICATE-----\nx\n", "cannot be used")],
)
def test_unusable_key_store_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "broker.pem"
    path.write_text(content)
    with pytest.raises(StoreError, match=message) as refused:
        TlsEndpoint(tls_settings(PemFiles(path, path)), is_server=True)
    assert str(path) in str(refused.value)


def test_missing_key_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.pem"
    with pytest.raises(StoreError, match=r"none\.pem cannot be read: no such file"):
        TlsEndpoint(tls_settings(PemFiles(path, path)), is_server=True)


def test_pem_text_in_the_settings_serves_as_well(authority: Authority, files: PemFiles) -> None:
    text = files.keystore.read_text()
    server = tls_settings(files)
    key, certificates = text[: text.index("-----BEGIN CERTIFICATE")], text
    inline = Store("PEM", certificates=Password(certificates.replace(key, "")), key=Password(key))

    async def story(pair: Pair) -> None:
        await pair.connect(client_of(authority))

    play(story, replace(server, keystore=inline))


def test_peer_that_sends_nothing_after_connecting_costs_no_handshake(files: PemFiles) -> None:
    async def story(pair: Pair) -> None:
        silent = socket.create_connection(pair.address)
        try:
            async with asyncio.timeout(5):
                while not pair.accepted:
                    await next_turn()
                await pair.accepted[0].is_closed.wait()
            assert "no TLS handshake within 0.2 s" in str(pair.accepted[0].error)
        finally:
            silent.close()

    play(story, tls_settings(files), handshake_seconds_max=0.2)
