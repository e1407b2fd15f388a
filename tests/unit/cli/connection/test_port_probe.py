"""Knocking on ports, over a network that does as the test says."""

import asyncio
import errno
import socket  # noqa: TID251 - for its error only
from collections.abc import Sequence

import pytest

from ottla.cli.connection import port_probe
from ottla.cli.connection.port_probe import PortProbe, protocol_of, reason_text
from ottla.model.buffers import Buffer
from ottla.runtime.disk import File
from ottla.runtime.network import Address, Connection, ConnectionHandler

HERE = Address("here", 9092)
THERE = Address("there", 9092)


class FakeConnection:
    """Responds with its words to the first bytes that it receives."""

    def __init__(self, handler: ConnectionHandler, words: bytes | None) -> None:
        self.is_aborted = False
        self._handler = handler
        self._words = words

    @property
    def peer_address(self) -> Address:
        return HERE

    @property
    def local_address(self) -> Address:
        return HERE

    @property
    def peer_certificate(self) -> bytes | None:
        return None

    def write(self, buffers: Sequence[Buffer]) -> None:
        assert bytes(buffers[0]).startswith((b"GET / HTTP/1.", b"\x16\x03"))
        if self._words is None:
            return
        if self._words:
            buffer = self._handler.get_buffer(-1)
            length = min(len(buffer), len(self._words))
            buffer[:length] = self._words[:length]
            self._handler.buffer_filled(length)
        else:
            self._handler.closed(None)

    def send_file(self, file: File, *, position: int, length: int) -> None:
        raise NotImplementedError

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None:
        self.is_aborted = True


class FakeNetwork:
    """Connects to the hosts that have words; the others fail with the given errors."""

    def __init__(self, hosts: dict[str, bytes | OSError | None]) -> None:
        self._hosts = hosts
        self.connections: list[FakeConnection] = []

    async def connect(self, address: Address, handler: ConnectionHandler) -> Connection:
        words = self._hosts[address.host]
        if isinstance(words, OSError):
            raise words
        connection = FakeConnection(handler, words)
        self.connections.append(connection)
        return connection


def test_each_address_has_its_own_reason() -> None:
    refusal = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
    network = FakeNetwork({"here": None, "there": refusal})
    reasons = asyncio.run(PortProbe(network).why_unreachable([HERE, THERE]))
    assert reasons == {THERE: "connection refused"}
    assert all(connection.is_aborted for connection in network.connections)


def test_reasons_are_words() -> None:
    assert reason_text(OSError(errno.EHOSTUNREACH, "x")) == "no route to the host"
    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    assert reason_text(unknown) == "name or service not known"
    several = OSError("Multiple exceptions: [Errno 111] Connect call failed, [Errno 111] ...")
    assert reason_text(several) == "connection refused"


@pytest.mark.parametrize(
    ("words", "protocol"),
    [
        (b"HTTP/1.0 200 OK\r\n", "HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "TLS"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "SSH"),
        (b"-ERR unknown command\r\n", "a service that responds with '-ERR unknown command'"),
        (b"\x00\x00\x00\x05hello", None),
        (b"", None),
    ],
)
def test_other_protocols_give_themselves_away(words: bytes, protocol: str | None) -> None:
    assert protocol_of(words) == protocol
    network = FakeNetwork({"here": words})
    assert asyncio.run(PortProbe(network).other_protocol(HERE)) == protocol
    assert network.connections[0].is_aborted


def test_silence_reports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port_probe, "ANSWER_TIMEOUT_S", 0.01)
    network = FakeNetwork({"here": None})
    assert asyncio.run(PortProbe(network).other_protocol(HERE)) is None
    assert network.connections[0].is_aborted
