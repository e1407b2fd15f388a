"""What refuses a node is logged once, then every minute, and says what to do."""

from __future__ import annotations

import logging

import pytest

from ottla.broker.control.outgoing_outcomes import REPEAT_SECONDS, Login, OutgoingOutcomes
from ottla.channels.authentication import AuthenticationFailedError
from ottla.runtime.network import Address
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.security.sasl.mechanism import Mechanism
from ottla.simulation.seams.clock import SimulatedClock

BROKER = Address("broker-2.example.com", 9095)
OTHER = Address("broker-3.example.com", 9095)
REFUSAL = AuthenticationFailedError("authentication failed: invalid credentials")


@pytest.fixture(autouse=True)
def _info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def outcomes(mechanism: Mechanism | None, user: str | None = None) -> OutgoingOutcomes:
    return OutgoingOutcomes(Login("INTERNAL", mechanism, user), SimulatedClock())


@pytest.mark.parametrize(
    ("login", "parts"),
    [
        (
            (Mechanism.SCRAM_SHA_512, "broker-1"),
            [
                "broker-2.example.com:9095, listener INTERNAL, refused this node's SCRAM-SHA-512",
                "credentials as broker-1: authentication failed: invalid credentials",
                "Correct listener.name.internal.scram-sha-512.sasl.jaas.config and restart",
                "`ottla users set-password broker-1 --mechanism SCRAM-SHA-512`",
            ],
        ),
        (
            (Mechanism.PLAIN, "broker-1"),
            ["PLAIN credentials as broker-1", "add the user to the same setting of that node"],
        ),
        (
            (Mechanism.OAUTHBEARER, None),
            ["listener.name.internal.oauthbearer.sasl.oauthbearer.token.endpoint.url"],
        ),
    ],
)
def test_refused_credentials_are_named_with_what_to_do(
    caplog: pytest.LogCaptureFixture, login: tuple[Mechanism, str | None], parts: list[str]
) -> None:
    outcomes(*login).report(BROKER, REFUSAL)
    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert all(part in record.getMessage() for part in parts), record.getMessage()


@pytest.mark.parametrize(
    ("is_untrusted", "beginning"),
    [
        (True, "this node refused the certificate of broker-2.example.com:9095"),
        (False, "no TLS connection to broker-2.example.com:9095"),
    ],
)
def test_both_sides_of_a_refused_certificate_are_told_apart(
    caplog: pytest.LogCaptureFixture, is_untrusted: bool, beginning: str
) -> None:
    error = TlsHandshakeError("the TLS handshake failed", is_untrusted=is_untrusted)
    outcomes(None).report(BROKER, error)
    assert caplog.messages[0].startswith(beginning)


def test_a_refusal_is_logged_once_for_each_node_and_every_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = SimulatedClock()
    refused = OutgoingOutcomes(Login("INTERNAL", Mechanism.PLAIN, "broker-1"), clock)
    for _ in range(int(REPEAT_SECONDS) - 1):
        refused.report(BROKER, REFUSAL)
        refused.report(OTHER, REFUSAL)
        clock.advance(1)
    assert len(caplog.records) == 2
    clock.advance(1)
    refused.report(BROKER, REFUSAL)
    assert len(caplog.records) == 3


def test_another_error_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    refused = outcomes(Mechanism.PLAIN, "broker-1")
    refused.report(BROKER, TlsHandshakeError("the TLS handshake failed", is_untrusted=True))
    refused.report(BROKER, REFUSAL)
    refused.report(BROKER, REFUSAL)
    assert len(caplog.records) == 2


def test_the_end_of_a_refusal_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    refused = outcomes(Mechanism.PLAIN, "broker-1")
    refused.report(BROKER, None)
    assert not caplog.records
    refused.report(BROKER, REFUSAL)
    refused.report(BROKER, None)
    refused.report(BROKER, None)
    refused.report(BROKER, REFUSAL)
    assert [record.levelname for record in caplog.records] == ["ERROR", "INFO", "ERROR"]
