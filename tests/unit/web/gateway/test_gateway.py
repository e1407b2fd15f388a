"""A gateway over clients in memory: limits, ownership and the sharing of clients."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ottla.client.errors import ConnectionFailedError, RefusedConnectionError
from ottla.runtime.dice import SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.web.gateway.callers.caller_pool import Access, PoolLimits
from ottla.web.gateway.callers.credentials import OWN, CallerCredentials, caller_of_header
from ottla.web.gateway.callers.identification import BASIC
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.limits import GatewayLimits
from ottla.web.gateway.messages.bodies import OutgoingMessage
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.sessions.session_table import SessionLimits, SessionName
from ottla.web.service.identity import BasicCredentials
from tests.support.web.fake_clients import FakeCluster, FakeFactory

MESSAGE = OutgoingMessage(None, b"x" * 1_000, (), None)
ADA = (b"authorization", b"Basic YWRhOnNlY3JldA==")
WRONG = (b"authorization", b"Basic YWRhOndyb25n")


def scope(*headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"headers": list(headers)}


def played(story: Callable[[Gateway, FakeCluster], Awaitable[None]], **options: Any) -> None:
    async def play() -> None:
        cluster = FakeCluster("t")

        async def admit(_credentials: CallerCredentials) -> Access:
            return Access(FakeFactory(cluster))

        options.setdefault("admit", admit)
        gateway = Gateway(
            options.pop("admit"), SystemClock(), SystemDice(), owner="http://a:1", **options
        )
        gateway.start()
        try:
            await story(gateway, cluster)
        finally:
            await gateway.close()

    asyncio.run(play())


def test_what_is_in_flight_is_limited() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        cluster.acknowledge.clear()
        first = asyncio.ensure_future(gateway.producing.send(caller, "t", MESSAGE))
        await SystemClock().sleep(0.01)
        with pytest.raises(GatewayProblem) as refused:
            await gateway.producing.send(caller, "t", MESSAGE)
        assert (refused.value.status, refused.value.error) == (429, "BUFFER_EXHAUSTED")
        cluster.acknowledge.set()
        assert (await first).offset == 0
        assert gateway.producing.in_flight_bytes == 0
        await gateway.producing.send(caller, "t", MESSAGE)

    played(story, limits=GatewayLimits(in_flight_bytes_max=2_000))


def test_one_message_is_let_in_however_large_it_is() -> None:
    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        assert (await gateway.producing.send(caller, "t", MESSAGE)).offset == 0

    played(story, limits=GatewayLimits(in_flight_bytes_max=10))


def test_the_clients_of_a_caller_are_made_once() -> None:
    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        callers = await asyncio.gather(*(gateway.caller(scope(ADA)) for _ in range(10)))
        assert len(set(map(id, callers))) == len(gateway.callers) == 1

    played(story, schemes=[BASIC])


def test_the_least_recent_caller_makes_room_for_another() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        first = await gateway.callers.get(OWN)
        await gateway.caller(scope(ADA))
        assert gateway.callers.known(first.key) is None
        assert cluster.closed == 1

    limits = GatewayLimits(callers=PoolLimits(callers_max=1))
    played(story, schemes=[BASIC], limits=limits)


def test_a_caller_with_a_message_in_flight_is_not_sent_away() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        caller = await gateway.callers.get(OWN)
        cluster.acknowledge.clear()
        sending = asyncio.ensure_future(gateway.producing.send(caller, "t", MESSAGE))
        await SystemClock().sleep(0.01)
        with pytest.raises(GatewayProblem) as refused:
            await gateway.caller(scope(ADA))
        assert refused.value.status == 429
        cluster.acknowledge.set()
        await sending
        await gateway.caller(scope(ADA))

    limits = GatewayLimits(callers=PoolLimits(callers_max=1))
    played(story, schemes=[BASIC], limits=limits)


def test_a_request_that_comes_after_its_caller_was_sent_away_starts_no_clients() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        late = await gateway.callers.get(OWN)
        await gateway.caller(scope(ADA))
        for start in (late.producer, late.reader):
            with pytest.raises(GatewayProblem) as refused:
                await start()
            assert (refused.value.status, refused.value.retriable) == (503, True)
        with pytest.raises(GatewayProblem):
            await gateway.producing.send(late, "t", MESSAGE)
        assert cluster.logs["t"] == []

    limits = GatewayLimits(callers=PoolLimits(callers_max=1))
    played(story, schemes=[BASIC], limits=limits)


def test_a_caller_with_a_consumer_is_not_sent_away() -> None:
    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        caller = await gateway.callers.get(OWN)
        sessions = gateway.sessions
        name = SessionName(caller.key, "g", "one")
        await sessions.open(caller, name, sessions.options("g", "one"))
        with pytest.raises(GatewayProblem) as refused:
            await gateway.caller(scope(ADA))
        assert refused.value.status == 429
        await sessions.close_session(name)
        await gateway.caller(scope(ADA))

    limits = GatewayLimits(callers=PoolLimits(callers_max=1))
    played(story, schemes=[BASIC], limits=limits)


def test_a_wrong_password_is_one_login_and_takes_nobodys_place() -> None:
    logins = 0

    async def admit(credentials: CallerCredentials) -> Access:
        nonlocal logins
        logins += 1
        if isinstance(credentials, BasicCredentials) and credentials.password.value == "wrong":
            raise RefusedConnectionError("no")
        return Access(FakeFactory(FakeCluster("t")))

    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        await gateway.caller(scope(ADA))

        async def refused() -> None:
            with pytest.raises(RefusedConnectionError):
                await gateway.caller(scope(WRONG))

        await asyncio.gather(*(refused() for _ in range(50)))
        await refused()
        assert logins == 2
        assert len(gateway.callers) == 1
        await gateway.caller(scope(ADA))
        assert logins == 2

    limits = GatewayLimits(callers=PoolLimits(callers_max=1))
    played(story, schemes=[BASIC], admit=admit, limits=limits)


def test_an_error_of_the_cluster_is_not_remembered() -> None:
    answers = [ConnectionFailedError("away"), None]
    cluster = FakeCluster("t")

    async def admit(_credentials: CallerCredentials) -> Access:
        error = answers.pop(0)
        if error is not None:
            raise error
        return Access(FakeFactory(cluster))

    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        with pytest.raises(ConnectionFailedError):
            await gateway.caller(scope(ADA))
        assert len(gateway.callers) == 0
        await gateway.caller(scope(ADA))

    played(story, schemes=[BASIC], admit=admit)


def test_there_are_never_more_callers_than_allowed() -> None:
    """While the clients of one are closed, another may log in."""

    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        cluster.close_seconds = 0.01
        counts: list[int] = []

        async def call(number: int) -> None:
            user = base64.b64encode(f"user{number}:secret".encode())
            await gateway.caller(scope((b"authorization", b"Basic " + user)))
            counts.append(len(gateway.callers))

        await asyncio.gather(*map(call, range(3)))
        for turn in range(1, 4):
            await asyncio.gather(*(call(10 * turn + number) for number in range(8)))
        assert max(counts) <= 3
        assert len(gateway.callers) == 3

    limits = GatewayLimits(callers=PoolLimits(callers_max=3))
    played(story, schemes=[BASIC], limits=limits)


def test_a_consumer_is_closed_though_the_request_is_cancelled() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        sessions = gateway.sessions
        name = SessionName(caller.key, "g", "one")
        await sessions.open(caller, name, sessions.options("g", "one"))
        cluster.close_seconds = 0.01
        closing = asyncio.ensure_future(sessions.close_session(name))
        await SystemClock().sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert cluster.client_ids["g"] != []
        await sessions.close()
        assert cluster.client_ids["g"] == []
        assert caller.users == 0

    played(story)


def test_consumers_that_are_being_opened_count() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        sessions = gateway.sessions
        cluster.start_seconds = 0.01

        async def status(number: int) -> int:
            name = SessionName(caller.key, "g", str(number))
            try:
                await sessions.open(caller, name, sessions.options("g", str(number)))
            except GatewayProblem as problem:
                return problem.status
            return 200

        found = await asyncio.gather(*map(status, range(5)))
        assert sorted(found) == [200, 200, 429, 429, 429]

    played(story, limits=GatewayLimits(sessions=SessionLimits(sessions_max=2)))


def test_credentials_are_required_where_there_is_authentication() -> None:
    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        for headers in ([], [(b"authorization", b"Bearer abc")]):
            with pytest.raises(GatewayProblem) as refused:
                await gateway.caller(scope(*headers))
            assert refused.value.status == 401
            assert refused.value.headers["WWW-Authenticate"].startswith("Basic")

    played(story, schemes=[BASIC])


def test_the_key_of_a_caller_has_no_secret() -> None:
    assert "secret" not in caller_of_header(ADA[1]).key
    assert "secret" not in repr(caller_of_header(ADA[1]))


def test_another_gateway_is_named_if_it_has_the_consumer() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        name = SessionName(caller.key, "g", "one")
        cluster.client_ids["g"].append("ottla-gateway;http://b:2;one")
        with pytest.raises(GatewayProblem) as refused:
            await gateway.sessions.require(caller, name)
        assert (refused.value.status, refused.value.more) == (421, {"owner": "http://b:2"})

    played(story)


def test_messages_that_did_not_reach_the_caller_are_read_again() -> None:
    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        await gateway.producing.send(caller, "t", MESSAGE)
        sessions = gateway.sessions
        options = sessions.options("g", "one")
        session = await sessions.open(caller, SessionName(caller.key, "g", "one"), options)
        limits: Any = {"max_records": 10, "max_bytes": 10_000, "min_bytes": 0, "wait_s": 0.05}
        async with sessions.turn(session) as consumer:
            await consumer.client.subscribe(["t"])
            first = await sessions.read(consumer, **limits)
            assert await sessions.read(consumer, **limits) == []
            await sessions.give_back(consumer, first)
            assert await sessions.read(consumer, **limits) == first

    played(story)


def test_messages_before_an_error_are_read_again() -> None:
    async def story(gateway: Gateway, _cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        await gateway.producing.send(caller, "t", MESSAGE)
        sessions = gateway.sessions
        options = sessions.options("g", "one")
        session = await sessions.open(caller, SessionName(caller.key, "g", "one"), options)
        limits: Any = {"max_records": 10, "max_bytes": 10_000, "wait_s": 0.05}
        async with sessions.turn(session) as consumer:
            await consumer.client.subscribe(["t"])
            poll = consumer.client.poll
            consumer.client.poll = failing_second(poll)  # type: ignore[method-assign]
            with pytest.raises(RefusedConnectionError):
                await sessions.read(consumer, min_bytes=9_000, **limits)
            consumer.client.poll = poll  # type: ignore[method-assign]
            assert len(await sessions.read(consumer, min_bytes=0, **limits)) == 1

    played(story)


def failing_second(poll: Callable[..., Awaitable[Any]]) -> Any:
    polls = 0

    async def polled(**limits: Any) -> Any:
        nonlocal polls
        polls += 1
        if polls == 2:
            raise RefusedConnectionError("not now")
        return await poll(**limits)

    return polled


def test_an_instance_commits_what_was_read_when_it_is_closed() -> None:
    async def story(gateway: Gateway, cluster: FakeCluster) -> None:
        caller = await gateway.caller(scope())
        await gateway.producing.send(caller, "t", MESSAGE)
        sessions = gateway.sessions
        name = SessionName(caller.key, "g", "one")
        session = await sessions.open(caller, name, sessions.options("g", "one"))
        session.consumer.auto_commits = True
        async with sessions.turn(session) as consumer:
            await consumer.client.subscribe(["t"])
            await sessions.read(consumer, max_records=1, max_bytes=1, min_bytes=0, wait_s=1)
        assert cluster.committed["g"] == {}
        await sessions.close_session(name)
        assert [each.offset for each in cluster.committed["g"].values()] == [1]

    played(story)
