"""A client that fails to authenticate again and again has few lines in the log."""

from __future__ import annotations

import logging

import pytest

from ottla.broker.control.authentication import Authentication
from ottla.broker.network.failed_logins import REPEAT_SECONDS, FailedLogins
from ottla.security.principal import Principal
from ottla.simulation.seams.clock import SimulatedClock


@pytest.fixture(autouse=True)
def _info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def failed(host: str = "192.0.2.1", failure: str = "the credentials are invalid") -> Authentication:
    return Authentication("CLIENTS", host, "PLAIN", None, failure)


def test_the_first_failure_is_logged_and_the_others_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = SimulatedClock()
    logins = FailedLogins(clock)
    for _ in range(10):
        logins.report(failed())
        clock.advance(1)
    clock.advance(REPEAT_SECONDS)
    logins.report(failed())
    assert caplog.messages == [
        "the client at 192.0.2.1 did not authenticate on CLIENTS: the credentials are invalid",
        "the client at 192.0.2.1 did not authenticate on CLIENTS: the credentials are invalid "
        "(9 more times since the last line)",
    ]


def test_hosts_and_reasons_have_their_own_lines(caplog: pytest.LogCaptureFixture) -> None:
    logins = FailedLogins(SimulatedClock())
    for outcome in (failed(), failed("192.0.2.2"), failed(failure="too late"), failed()):
        logins.report(outcome)
    assert len(caplog.records) == 3


def test_successes_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    principal = Principal("User", "alice")
    FailedLogins(SimulatedClock()).report(
        Authentication("CLIENTS", "192.0.2.1", "PLAIN", principal)
    )
    assert not caplog.records


def test_many_hosts_take_bounded_memory() -> None:
    logins = FailedLogins(SimulatedClock())
    for number in range(2_000):
        logins.report(failed(f"host-{number}"))
    assert len(logins._repeats) == 1_000
