"""Which consumers a gateway has, and when they end."""

from __future__ import annotations

import pytest

from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.sessions.session_owner import client_id_of, owner_of
from ottla.web.gateway.sessions.session_table import SessionLimits, SessionName, SessionTable

LIMITS = SessionLimits(sessions_max=3, per_caller_max=2, waiting_max=2, idle_s=10.0)


def named(caller: str, instance: str = "default") -> SessionName:
    return SessionName(caller, "group", instance)


def table() -> SessionTable[str]:
    return SessionTable(LIMITS)


def test_an_idle_session_expires() -> None:
    sessions = table()
    sessions.add(named("a"), "consumer", now=0.0)
    assert sessions.expired(9.9) == []
    assert sessions.expired(10.0) == [named("a")]


def test_a_session_in_use_does_not_expire_and_its_time_begins_anew() -> None:
    sessions = table()
    session = sessions.add(named("a"), "consumer", now=0.0)
    sessions.acquire(session)
    assert sessions.expired(100.0) == []
    sessions.release(session, now=100.0)
    assert sessions.expired(109.9) == []
    assert sessions.expired(110.0) == [named("a")]


def test_a_caller_sees_only_its_own_sessions() -> None:
    sessions = table()
    sessions.add(named("a"), "consumer", now=0.0)
    assert sessions.get(named("b")) is None


def test_the_number_of_sessions_of_one_caller_and_of_all_is_limited() -> None:
    sessions = table()
    sessions.add(named("a", "1"), "consumer", now=0.0)
    sessions.add(named("a", "2"), "consumer", now=0.0)
    with pytest.raises(GatewayProblem) as refused:
        sessions.check_room("a")
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (429, "1")
    sessions.check_room("b")
    sessions.add(named("b"), "consumer", now=0.0)
    with pytest.raises(GatewayProblem):
        sessions.check_room("c")
    sessions.remove(named("a", "1"))
    sessions.check_room("a")
    sessions.check_room("c")


def test_only_so_many_requests_wait_for_one_session() -> None:
    sessions = table()
    session = sessions.add(named("a"), "consumer", now=0.0)
    for _ in range(3):
        sessions.acquire(session)
    with pytest.raises(GatewayProblem) as refused:
        sessions.acquire(session)
    assert refused.value.status == 429


@pytest.mark.parametrize("instance", ["default", "a;b", "ä/%", " "])
def test_a_client_id_says_which_gateway_has_a_session(instance: str) -> None:
    owner = "http://10.0.0.1:8082"
    others = ["consumer-1", client_id_of("http://10.0.0.2:8082", "another"), "ottla-gateway;x"]
    assert owner_of([*others, client_id_of(owner, instance)], instance) == owner
    assert owner_of(others, instance) is None
    assert client_id_of(owner, instance).isascii()
