"""Clients that flood a real node before they are authenticated, or say nothing: each is closed at
the deadline, memory is bounded, and another client is served all the while."""

from __future__ import annotations

import select
import socket  # noqa: TID251 - tests stand outside of the node
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

import pytest

from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.nodes.cluster_processes import wait_until
from tests.support.nodes.steady_client import SteadyClient
from tests.support.nodes.wire_connection import WireConnection, framed
from tests.support.security.attacked_node import PASSWORD, AttackedNode
from tests.support.security.attacks import under_attack
from tests.support.security.sasl_wire import log_in, log_in_plainly, scram
from tests.support.security.tls_wire import TlsWire
from tests.support.soak import IS_SOAK, at_scale

DEADLINE_SECONDS: Final = 2.0
# The deadline, and what a busy machine takes besides.
SECONDS_MAX: Final = DEADLINE_SECONDS + 5.0
ATTACKER: Final = "127.0.0.2"
PER_IP: Final = at_scale(quick=150, soak=600)
CONNECTIONS: Final = at_scale(quick=120, soak=500)
WAVES: Final = at_scale(quick=1, soak=20)
HALF_OPEN_BYTES_MAX: Final = 100 * 1024
# A soak runs alone; other tests run beside the short form.
STEADY_P99_SECONDS_MAX: Final = 0.5 if IS_SOAK else 2.0
MEBIBYTE: Final = 1 << 20
VERSIONS: Final = framed(ApiVersionsRequest(), 0)
HANDSHAKE: Final = framed(SaslHandshakeRequest(mechanism="PLAIN"), 1)
# In version 99.
UNSUPPORTED: Final = struct.pack(">ihhihb", 11, 18, 99, 1, -1, 0)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedNode]:
    settings = {
        "ottla.pre.auth.timeout.ms": str(int(DEADLINE_SECONDS * 1_000)),
        "max.connections.per.ip": str(PER_IP),
    }
    with under_attack(tmp_path_factory.mktemp("node"), settings, secrets=(PASSWORD,)) as node:
        # What TLS and SASL need once.
        with node.connect("SECURE", tls=node.client_context()) as connection:
            assert log_in(connection, scram("alice", PASSWORD)).error_code == 0
        yield node


@pytest.fixture(autouse=True)
def _another_client_is_served(node: AttackedNode) -> Iterator[None]:
    with SteadyClient(node.address_of("ADMIN")) as steady:
        yield
    assert steady.percentile_seconds(99) < STEADY_P99_SECONDS_MAX


class Attackers:
    """Connections from an address of their own."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.open: list[socket.socket] = []

    def connect(self, address: tuple[str, int], data: bytes = b"") -> socket.socket:
        connection = socket.create_connection(address, source_address=(ATTACKER, 0))
        self.open.append(self._stack.enter_context(connection))
        with suppress(ConnectionError):
            connection.sendall(data)
        return connection

    def wait_closed(self, *, slow: Mapping[socket.socket, bytes] | None = None) -> float:
        """How long it took until the node had closed all of them. Meanwhile the slow ones send
        byte by byte."""
        started = time.perf_counter()
        waiting, sent = list(self.open), 0
        while waiting:
            assert time.perf_counter() - started < SECONDS_MAX, f"{len(waiting)} are still open"
            readable, _, _ = select.select(waiting, [], [], 0.05)
            waiting = [each for each in waiting if each not in readable or not is_closed(each)]
            for each, data in (slow or {}).items():
                with suppress(OSError):
                    each.sendall(data[sent : sent + 1])
            sent += 1
        self.open.clear()
        return time.perf_counter() - started


def is_closed(connection: socket.socket) -> bool:
    """Of a connection with something to read."""
    try:
        return connection.recv(1 << 16) == b""
    except ConnectionResetError:
        return True


@contextmanager
def attackers() -> Iterator[Attackers]:
    with ExitStack() as stack:
        yield Attackers(stack)


def hello(node: AttackedNode) -> bytes:
    with TlsWire(node.address_of("SECURE"), node.client_context()) as client:
        return client.hello()


def test_half_open_handshakes_end_at_the_deadline_and_leave_no_memory(node: AttackedNode) -> None:
    first_message = hello(node)
    kept = []
    for _ in range(WAVES):
        before = node.resident_bytes
        with attackers() as flood:
            for number in range(CONNECTIONS):
                flood.connect(node.address_of(("SECURE", "MUTUAL")[number % 2]), first_message)
            # The node has answered the last one, and so all.
            assert flood.open[-1].recv(1)
            each = (node.resident_bytes - before) / CONNECTIONS
            assert each < HALF_OPEN_BYTES_MAX
            flood.wait_closed()
        kept.append(node.resident_bytes)
    print(f"{each / 1024:.0f} KB each; {[size >> 20 for size in kept]} MB after each wave")
    # Later waves use the memory of the first again.
    assert kept[-1] - kept[0] < 32 * MEBIBYTE


SILENCES: dict[str, tuple[str, bytes]] = {
    "nothing, SASL": ("CLIENTS", b""),
    "nothing, TLS": ("MUTUAL", b""),
    "nothing, TLS and SASL": ("SECURE", b""),
    "nothing, controller": ("CONTROLLER", b""),
    "a size": ("CLIENTS", struct.pack(">i", 500_000)),
    "half a frame": ("CLIENTS", struct.pack(">i", 500_000) + bytes(300_000)),
    "versions": ("CLIENTS", VERSIONS),
    "versions, controller": ("CONTROLLER", VERSIONS),
    "a handshake of SASL": ("CLIENTS", HANDSHAKE),
    "half a record of TLS": ("SECURE", b"\x16\x03\x01\x40\x00" + bytes(1_000)),
}


def test_silent_and_slow_clients_are_closed_at_one_deadline(node: AttackedNode) -> None:
    """Bytes that keep coming do not move it, and neither does a finished handshake of TLS. It ends
    with authentication."""
    slowly = {"SECURE": hello(node), "MUTUAL": hello(node), "CLIENTS": b"x" * 1_000}
    before = node.resident_bytes
    with (
        node.connect("CLIENTS") as alice,
        TlsWire(node.address_of("SECURE"), node.client_context()) as encrypted,
        attackers() as silent,
    ):
        assert log_in_plainly(alice, "alice", PASSWORD).error_code == 0
        encrypted.shake_hands()
        for listener, data in SILENCES.values():
            for _ in range(10):
                silent.connect(node.address_of(listener), data)
        slow = {silent.connect(node.address_of(each)): data for each, data in slowly.items()}
        assert node.resident_bytes - before < 32 * MEBIBYTE
        assert silent.wait_closed(slow=slow) > DEADLINE_SECONDS / 2
        encrypted.receive_end()
        assert alice.send_request(ApiVersionsRequest(), 0).api_keys


@pytest.mark.parametrize("request_bytes", [VERSIONS, UNSUPPORTED], ids=["versions", "unsupported"])
@pytest.mark.parametrize("listener", ["CLIENTS", "CONTROLLER"])
def test_versions_are_answered_twice_before_authentication(
    node: AttackedNode, listener: str, request_bytes: bytes
) -> None:
    with node.connect(listener) as connection:
        connection.send(request_bytes * 3)
        assert connection.receive_frame()
        assert connection.receive_frame()
        assert connection.receive_end() == b""
    with node.connect(listener) as connection:
        connection.send_what_it_takes(request_bytes * 10_000)
        assert len(connection.receive_end()) < 10_000


@pytest.mark.parametrize("size", [524_289, 100 * MEBIBYTE, 2**31 - 1, -1])
@pytest.mark.parametrize("before", [b"", HANDSHAKE], ids=["first", "in an exchange"])
def test_larger_frames_are_refused_before_authentication(
    node: AttackedNode, before: bytes, size: int
) -> None:
    with node.connect("CLIENTS") as connection:
        connection.send(before)
        if before:
            connection.receive_frame()
        connection.send(struct.pack(">i", size))
        assert connection.receive_end() == b""


def test_a_host_has_its_connections_and_no_more(node: AttackedNode) -> None:
    """The limit counts connections that have not authenticated."""
    first_message = hello(node)
    with attackers() as flood:
        for _ in range(PER_IP + 30):
            flood.connect(node.address_of("SECURE"), first_message)
        refused = [each for each in flood.open if is_refused(each)]
        assert len(refused) == 30
    wait_until(lambda: is_answered(node, first_message), "the host may connect again")


def is_answered(node: AttackedNode, data: bytes) -> bool:
    with attackers() as one:
        return not is_refused(one.connect(node.address_of("SECURE"), data))


def is_refused(connection: socket.socket) -> bool:
    """Whether it was closed at once, instead of answered."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_that_vanish_at_once_are_not_counted_for_ever(node: AttackedNode) -> None:
    reset = struct.pack("ii", 1, 0)
    for listener in ("CLIENTS", "SECURE"):
        for _ in range(2 * PER_IP):
            with socket.socket() as connection:
                connection.bind((ATTACKER, 0))
                connection.connect(node.address_of(listener))
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    wait_until(lambda: is_answered(node, hello(node)), "the host may connect again")


def test_a_full_listener_leaves_the_others_free_and_is_free_after_the_deadline(
    node: AttackedNode,
) -> None:
    with node.connect("ADMIN") as admin:
        set_listener_limit(admin, 10)
        try:
            with attackers() as flood:
                for _ in range(12):
                    flood.connect(node.address_of("CLIENTS"))
                with node.connect("SECURE", tls=node.client_context()) as other:
                    assert log_in(other, scram("alice", PASSWORD)).error_code == 0
                # It waits until some attackers are closed.
                with node.connect("CLIENTS") as alice:
                    assert log_in_plainly(alice, "alice", PASSWORD).error_code == 0
        finally:
            set_listener_limit(admin, 10_000)


def set_listener_limit(admin: WireConnection, connections: int) -> None:
    name, value = "listener.name.clients.max.connections", str(connections)
    resource = AlterConfigsResource(
        resource_type=4, resource_name="1", configs=[AlterableConfig(name=name, value=value)]
    )
    request = IncrementalAlterConfigsRequest(resources=[resource])
    (answer,) = admin.send_request(request, 1).responses
    assert answer.error_code == 0, answer.error_message
