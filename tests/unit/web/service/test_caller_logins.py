"""Logins at the cluster: one for requests that arrive together, and none for known refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.runtime.system_clock import SystemClock
from ottla.web.service.caller_logins import CallerLogins
from ottla.web.service.problems import HttpProblem, unauthorized


class SetClock(SystemClock):
    now = 0.0

    def monotonic(self) -> float:
        return self.now


class Cluster:
    """Knows one password of each user."""

    def __init__(self) -> None:
        self.logins = 0
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.clock = SetClock()
        self.callers: CallerLogins[str] = CallerLogins(
            self.clock, _is_refusal, lambda: HttpProblem(429, "full"), running_max=2
        )

    async def get(self, user: str, password: str) -> str:
        return await self.callers.run((user, password), lambda: self._log_in(user, password))

    async def status(self, user: str, password: str) -> int:
        try:
            await self.get(user, password)
        except HttpProblem as problem:
            return problem.status
        return 200

    async def _log_in(self, user: str, password: str) -> str:
        self.logins += 1
        await self.is_open.wait()
        if password == "away":
            raise HttpProblem(503, "the cluster is away")
        if password != f"{user}'s":
            raise unauthorized("no")
        return user


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, HttpProblem) and error.status == 401


def played(story: Callable[[Cluster], Awaitable[None]]) -> None:
    async def play() -> None:
        cluster = Cluster()
        await story(cluster)
        cluster.is_open.clear()
        await cluster.callers.close()
        assert len(cluster.callers) == 0

    asyncio.run(play())


def test_requests_with_a_wrong_password_make_one_login() -> None:
    async def story(cluster: Cluster) -> None:
        statuses = await asyncio.gather(*(cluster.status("ada", "wrong") for _ in range(100)))
        for _ in range(100):
            statuses.append(await cluster.status("ada", "wrong"))
        assert statuses == [401] * 200
        assert cluster.logins == 1
        cluster.clock.now = 5.1
        assert await cluster.status("ada", "wrong") == 401
        assert cluster.logins == 2

    played(story)


def test_a_wrong_password_keeps_nobody_else_out() -> None:
    async def story(cluster: Cluster) -> None:
        for number in range(20):
            assert await cluster.status("ada", f"wrong {number}") == 401
        assert await cluster.get("ada", "ada's") == "ada"

    played(story)


def test_unknown_users_are_refused_as_wrong_passwords_are() -> None:
    async def story(cluster: Cluster) -> None:
        outcomes = []
        for user in ("ada", "nobody"):
            before = cluster.logins
            outcomes.append([await cluster.status(user, "wrong") for _ in range(3)])
            assert cluster.logins == before + 1
        assert outcomes[0] == outcomes[1]

    played(story)


def test_what_may_succeed_at_once_is_tried_again() -> None:
    async def story(cluster: Cluster) -> None:
        assert await cluster.status("ada", "away") == 503
        assert await cluster.status("ada", "away") == 503
        assert cluster.logins == 2

    played(story)


def test_a_login_outlives_the_request_that_began_it() -> None:
    async def story(cluster: Cluster) -> None:
        cluster.is_open.clear()
        first, second = (asyncio.ensure_future(cluster.get("ada", "ada's")) for _ in range(2))
        await cluster.clock.sleep(0)
        first.cancel()
        cluster.is_open.set()
        assert await second == "ada"
        assert first.cancelled()
        assert cluster.logins == 1

    played(story)


def test_logins_at_one_time_are_limited() -> None:
    async def story(cluster: Cluster) -> None:
        cluster.is_open.clear()
        running = [asyncio.ensure_future(cluster.get(user, f"{user}'s")) for user in "ab"]
        await cluster.clock.sleep(0)
        with pytest.raises(HttpProblem, match="full"):
            await cluster.get("c", "c's")
        cluster.is_open.set()
        assert await asyncio.gather(*running) == ["a", "b"]
        assert await cluster.get("c", "c's") == "c"

    played(story)


def test_what_is_remembered_is_bounded() -> None:
    async def story(cluster: Cluster) -> None:
        for number in range(10_050):
            await cluster.status("ada", str(number))
        assert cluster.logins == 10_050
        assert await cluster.status("ada", "10049") == 401
        assert cluster.logins == 10_050
        assert await cluster.status("ada", "0") == 401
        assert cluster.logins == 10_051

    played(story)
