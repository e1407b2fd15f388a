"""The log has a line for each failed login, which helps no attacker; a flood of them has few."""

from __future__ import annotations

import logging

import pytest

from ottla.runtime.log_limit import LINES_MAX, LogLimit
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import StartNode
from tests.support.security.listeners import (
    CLIENTS,
    PASSWORD,
    SASL_CONFIGS,
    authenticate,
    handshake,
    log_in,
    plain,
)


@pytest.fixture(autouse=True)
def _info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def lines(start_node: StartNode, caplog: pytest.LogCaptureFixture, sent: bytes) -> str:
    """The log lines of a client, without the ports."""
    node = start_node(configs=SASL_CONFIGS)
    caplog.clear()
    client = ClientStream(node, listener=CLIENTS)
    client.feed(sent)
    assert client.is_closed
    client.end()
    return caplog.text


def test_wrong_password_and_unknown_user_have_the_same_line(
    start_node: StartNode, caplog: pytest.LogCaptureFixture
) -> None:
    found = [
        lines(start_node, caplog, handshake() + plain(name, password))
        for name, password in (("alice", "wrong"), ("mallory", PASSWORD), ("", ""))
    ]
    assert found[0] == found[1] == found[2]
    assert (
        "the client at 192.0.2.1 did not authenticate on CLIENTS: the credentials are invalid"
        in found[0]
    )
    assert "mallory" not in found[1]


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (handshake("GSSAPI\n"), "asked for a mechanism that is not enabled"),
        (handshake() + handshake(), "authenticate first"),
        (authenticate(b"x"), "authenticate first"),
    ],
)
def test_reason_is_named_and_nothing_that_was_sent(
    start_node: StartNode, caplog: pytest.LogCaptureFixture, sent: bytes, reason: str
) -> None:
    found = lines(start_node, caplog, sent)
    assert reason in found
    assert "192.0.2.1" in found
    assert "GSSAPI" not in found


def test_failed_tls_handshake_has_a_line(
    start_node: StartNode, caplog: pytest.LogCaptureFixture
) -> None:
    node = start_node()
    client = ClientStream(node)
    client.fail(TlsHandshakeError("the TLS handshake failed: http request"))
    assert (
        "192.0.2.1 did not authenticate on PLAINTEXT: the TLS handshake failed: http" in caplog.text
    )


def test_flood_of_failures_has_few_lines(start_node: StartNode) -> None:
    node = start_node(configs=SASL_CONFIGS)
    written: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(record.getMessage())

    handler = Handler()
    handler.addFilter(LogLimit(SimulatedClock()))
    logger = logging.getLogger("ottla")
    logger.addHandler(handler)
    try:
        for number in range(100):
            client = ClientStream(node, listener=CLIENTS, host=f"192.0.2.{number}")
            assert log_in(client, "alice", "wrong") == 58
            client.end()
    finally:
        logger.removeHandler(handler)
    assert 0 < len(written) <= 2 * LINES_MAX


def test_late_handshake_has_one_line(
    start_node: StartNode, caplog: pytest.LogCaptureFixture
) -> None:
    """Its deadline is that of authentication, too."""
    node = start_node(configs=SASL_CONFIGS | {"ottla.audit.log": "/data/audit.log"})
    client = ClientStream(node, listener=CLIENTS)
    client.feed(b"")
    assert client.is_closed
    client.fail(TlsHandshakeError("the TLS handshake failed: no TLS handshake within 10 s"))
    assert caplog.text.count("the client at 192.0.2.1 did not authenticate on CLIENTS") == 1
    assert node.broker.audit_log is not None
    node.run(node.broker.audit_log.close())
    assert node.disk.content("/data/audit.log").count(b"\n") == 1
