"""The audit log has each authentication and each decision, in order, and never delays a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ottla.broker.control.audit_log import AuditLog
from ottla.broker.control.authentication import Authentication
from ottla.configs import InvalidConfigError
from ottla.model import Uuid
from ottla.runtime.background import Arguments, Finished, InlineBackground, T
from ottla.security.acls.acl import AclOperation, PatternType, Permission, ResourceType
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.rights import Rights
from ottla.security.principal import USER, Principal
from ottla.simulation import SimulatedDisk
from ottla.wire.stored.cluster_metadata.security import AccessControlEntryRecord
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode
from tests.support.nodes.scripted_node import until
from tests.support.security.listeners import (
    CLIENTS,
    PASSWORD,
    SASL_CONFIGS,
    handshake,
    log_in,
)

PATH = "/data/audit.log"
HOST = "192.0.2.1"
ALICE = Principal(USER, "alice")


@contextmanager
def audited(disk: SimulatedDisk | None = None) -> Iterator[OneNode]:
    node = OneNode(disk, configs=SASL_CONFIGS | {"ottla.audit.log": PATH})
    try:
        yield node
    finally:
        node.abandon()


def log_of(node: OneNode) -> AuditLog:
    found = node.broker.audit_log
    assert found is not None
    return found


def entries(node: OneNode) -> list[dict[str, Any]]:
    """All that is written when the log is closed."""
    node.run(log_of(node).close())
    return written(node.disk)


def written(disk: SimulatedDisk) -> list[dict[str, Any]]:
    content = disk.open_readonly(PATH).read_at(0, disk.file_size(PATH))
    return [json.loads(line) for line in content.splitlines()]


def failure(number: int = 0) -> Authentication:
    return Authentication(CLIENTS, f"192.0.2.{number}", "PLAIN", None, "wrong")


def success(number: int = 0, *, name: str = "alice") -> Authentication:
    return Authentication(CLIENTS, f"192.0.2.{number}", "PLAIN", Principal(USER, name))


def test_no_file_without_the_config() -> None:
    node = OneNode(configs=SASL_CONFIGS)
    assert node.broker.audit_log is None
    client = ClientStream(node, listener=CLIENTS)
    assert log_in(client) == 0
    client.end()
    node.abandon()


def test_authentications_have_principal_host_listener_and_mechanism() -> None:
    with audited() as node:
        client = ClientStream(node, listener=CLIENTS)
        assert log_in(client) == 0
        client.end()
        (entry,) = entries(node)
        assert entry.pop("time").startswith("2025-06-15T")
        assert entry == {
            "event": "authentication",
            "principal": "User:alice",
            "host": HOST,
            "listener": CLIENTS,
            "mechanism": "PLAIN",
            "allowed": True,
        }


@pytest.mark.parametrize(("name", "password"), [("alice", "wrong"), ("mallory", PASSWORD)])
def test_failed_authentications_say_neither_the_name_nor_whether_it_exists(
    name: str, password: str
) -> None:
    with audited() as node:
        client = ClientStream(node, listener=CLIENTS)
        assert log_in(client, name, password) == 58
        client.end()
        (entry,) = entries(node)
        assert entry.pop("time")
        assert entry == {
            "event": "authentication",
            "principal": None,
            "host": HOST,
            "listener": CLIENTS,
            "mechanism": "PLAIN",
            "allowed": False,
            "reason": "the credentials are invalid",
        }


def test_silence_and_unexpected_requests_are_failed_authentications() -> None:
    with audited() as node:
        silent, hasty = (ClientStream(node, listener=CLIENTS) for _ in range(2))
        hasty.feed(handshake() + handshake())
        silent.feed(b"")
        assert silent.is_closed
        assert hasty.is_closed
        found = {entry["reason"] for entry in entries(node)}
        assert found == {
            "authenticate first: another request was expected",
            "the client did not authenticate in time",
        }


def test_decisions_are_logged_once_for_each_session_and_resource() -> None:
    with audited() as node:
        authorizer = StandardAuthorizer()
        record = AccessControlEntryRecord(
            id=Uuid(b"1" * 16),
            resource_type=ResourceType.TOPIC,
            resource_name="orders",
            pattern_type=PatternType.LITERAL,
            principal="User:alice",
            host="*",
            operation=AclOperation.READ,
            permission_type=Permission.ALLOW,
        )
        authorizer.add(record)
        rights = Rights(authorizer, ALICE, HOST, on_decision=log_of(node).decided)
        for _ in range(3):
            assert rights.allows(AclOperation.READ, ResourceType.TOPIC, "orders")
            assert not rights.allows(AclOperation.WRITE, ResourceType.TOPIC, "orders")
        assert not rights.allows_any(AclOperation.WRITE, ResourceType.TOPIC)
        assert rights.operations(ResourceType.TOPIC, "orders")
        found = entries(node)
        assert [(each["operation"], each["resource"], each["allowed"]) for each in found] == [
            ("READ", "orders", True),
            ("WRITE", "orders", False),
            ("WRITE", None, False),
        ]
        assert found[0] | {"time": ""} == {
            "time": "",
            "event": "authorization",
            "principal": "User:alice",
            "host": HOST,
            "operation": "READ",
            "resource_type": "TOPIC",
            "resource": "orders",
            "allowed": True,
        }


def test_names_cannot_add_lines_or_terminal_codes() -> None:
    with audited() as node:
        principal = Principal(USER, 'x"\n{"event":"authorization"}\x1b[2J\u2028')
        rights = Rights(StandardAuthorizer(), principal, HOST, on_decision=log_of(node).decided)
        assert not rights.allows(AclOperation.READ, ResourceType.GROUP, "a\r\nb")
        (entry,) = entries(node)
        assert entry["principal"] == str(principal)
        assert entry["resource"] == "a\r\nb"
        content = node.disk.open_readonly(PATH).read_at(0, node.disk.file_size(PATH))
        assert content.isascii()
        assert b"\x1b" not in content


def test_entries_beyond_the_queue_are_dropped_and_counted() -> None:
    with audited() as node:
        log = log_of(node)
        for number in range(20_000):
            log.authenticated(success(number))
        *kept, last = entries(node)
        assert len(kept) > 5_000
        assert last["event"] == "dropped"
        assert last["dropped"] == 20_000 - len(kept)
        assert [entry["host"] for entry in kept] == [f"192.0.2.{n}" for n in range(len(kept))]


def test_long_names_fill_the_queue_sooner() -> None:
    with audited() as node:
        for _ in range(1_000):
            log_of(node).authenticated(success(name="x" * 32_000))
        assert entries(node)[-1]["dropped"] > 850


def test_a_flood_of_failures_does_not_replace_what_was_logged() -> None:
    """Anyone can cause them, before they are authenticated."""
    with audited() as node:
        log = log_of(node)
        for second in range(3):
            for number in range(1_000):
                log.authenticated(failure(number))
            log.authenticated(success(second))
            node.run(advance(node, 1.0))
        found = entries(node)
        failed = [entry for entry in found if entry.get("allowed") is False]
        assert len(failed) == 3 * 50
        assert [entry["host"] for entry in found if entry.get("allowed")] == [
            f"192.0.2.{second}" for second in range(3)
        ]
        assert sum(entry.get("dropped", 0) for entry in found) == 3 * 950


async def advance(node: OneNode, seconds: float) -> None:
    node.clock.advance(seconds)
    await until(lambda: log_of(node)._writing is None)


def test_entries_are_written_in_batches_while_the_node_serves() -> None:
    with audited() as node:
        client = ClientStream(node, listener=CLIENTS)
        assert log_in(client) == 0
        writes = node.disk.counters.writes
        for number in range(100):
            log_of(node).authenticated(success(number))
        client.feed(b"")
        assert node.disk.counters.writes == writes + 1
        assert len(written(node.disk)) == 101
        client.end()


def test_lost_entries_are_counted_when_the_disk_works_again() -> None:
    with audited() as node:
        client = ClientStream(node, listener=CLIENTS)
        assert log_in(client) == 0
        node.disk.limit_space(0)
        for number in range(3):
            log_of(node).authenticated(success(number))
        client.feed(b"")
        assert len(written(node.disk)) == 1
        node.disk.limit_space(None)
        log_of(node).authenticated(success(9))
        assert [entry.get("dropped") for entry in entries(node)] == [None, None, 3]


def test_full_file_is_replaced() -> None:
    node = OneNode(
        configs=SASL_CONFIGS
        | {
            "ottla.audit.log": PATH,
            "ottla.audit.log.bytes.max": str(1 << 20),
            "ottla.audit.log.files.max": "2",
        }
    )
    log = log_of(node)
    for _ in range(4):
        for number in range(4_000):
            log.authenticated(success(number))
        client = ClientStream(node, listener=CLIENTS)
        client.feed(b"")
    node.run(log.close())
    names = [name for name in node.disk.list_directory("/data") if name.startswith("audit")]
    assert names == ["audit.log", "audit.log.1"]
    assert (1 << 19) < node.disk.file_size(f"{PATH}.1") <= 1 << 20
    node.abandon()


def test_node_does_not_start_without_its_audit_log() -> None:
    with pytest.raises(InvalidConfigError, match=r"ottla\.audit\.log: /nowhere/audit\.log"):
        OneNode(configs={"ottla.audit.log": "/nowhere/audit.log"})


def test_worker_is_the_nodes() -> None:
    """Nothing is written on the event loop's own time."""
    jobs: list[object] = []

    class CountingBackground(InlineBackground):
        def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Finished[T]:
            jobs.append(function)
            return super().run(function, *arguments)

    node = OneNode(
        configs=SASL_CONFIGS | {"ottla.audit.log": PATH}, background=CountingBackground()
    )
    before = len(jobs)
    writes = node.disk.counters.writes
    log_of(node).authenticated(failure())
    assert node.disk.counters.writes == writes
    node.run(log_of(node).close())
    assert len(jobs) == before + 2
    node.abandon()
