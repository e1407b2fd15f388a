"""The callers that the gateway acts for at present: a bounded number, each with clients of its own.

A caller is let in when the cluster has accepted its credentials, and let go when it has not called
for a while, when its credentials end, or when others need its place. A login alone takes no place,
so clients with wrong credentials cannot send other callers away.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, NamedTuple

from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.web.gateway.callers.caller_clients import CallerClients
from ottla.web.gateway.callers.credentials import CallerCredentials, KnownCaller
from ottla.web.gateway.clients import ClientFactory
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS, problem_of
from ottla.web.gateway.problems import GatewayProblem, too_many
from ottla.web.service.caller_logins import CallerLogins

_log = logging.getLogger(__name__)

_INTERVAL_S: Final = 1.0


class PoolLimits(NamedTuple):
    callers_max: int = 200
    logins_max: int = 50
    idle_s: float = 300.0


class Access(NamedTuple):
    """How the gateway acts as a caller, and until when: monotonic seconds, or None."""

    factory: ClientFactory
    expires_at: float | None = None


# Raises GatewayProblem for credentials that this gateway does not pass on.
Admit = Callable[[CallerCredentials], Awaitable[Access]]


class CallerPool:
    """Owned by the gateway's loop."""

    def __init__(self, limits: PoolLimits, clock: Clock, admit: Admit) -> None:
        self._limits = limits
        self._clock = clock
        self._admit = admit
        self._callers: dict[str, CallerClients] = {}
        self._logins: CallerLogins[CallerClients] = CallerLogins(
            clock, _is_refusal, _too_many_logins, running_max=limits.logins_max
        )
        self._tasks = Tasks(_failed)

    def start(self) -> None:
        self._tasks.start("closing the clients of idle callers", self._close_idle())

    def __len__(self) -> int:
        return len(self._callers)

    def known(self, key: str) -> CallerClients | None:
        """The clients of a caller that the cluster has accepted before."""
        caller = self._callers.get(key)
        if caller is None:
            return None
        now = self._clock.monotonic()
        if caller.expires_at is not None and now >= caller.expires_at:
            return None
        caller.last_used = now
        return caller

    async def get(self, caller: KnownCaller) -> CallerClients:
        """Logs in unless the caller is known. Concurrent calls share one login. Raises the
        client's error if the cluster refuses, or a problem with status 429 if there is no room."""
        known = self.known(caller.key)
        if known is not None:
            return known
        return await self._logins.run(caller.key, lambda: self._log_in(caller))

    async def close(self) -> None:
        await self._logins.close()
        await self._tasks.close()
        while self._callers:
            _, caller = self._callers.popitem()
            await caller.close()

    # ----

    async def _log_in(self, named: KnownCaller) -> CallerClients:
        key = named.key
        await self._forget(key)
        access = await self._admit(named.credentials)
        caller = CallerClients(key, access.factory, expires_at=access.expires_at)
        try:
            await caller.reader()
            await self._make_room()
        except BaseException:
            await caller.close()
            raise
        caller.last_used = self._clock.monotonic()
        self._callers[key] = caller
        return caller

    async def _make_room(self) -> None:
        """When it returns there is a place, until something else is awaited."""
        while len(self._callers) >= self._limits.callers_max:
            idle = [caller for caller in self._callers.values() if not caller.users]
            if not idle:
                raise too_many("CALLERS_EXHAUSTED", "The gateway has reached its limit of callers.")
            # While its clients are closed, another login may take the place.
            await self._forget(min(idle, key=lambda caller: caller.last_used).key)

    async def _forget(self, key: str) -> None:
        caller = self._callers.pop(key, None)
        if caller is not None:
            await caller.close()

    async def _close_idle(self) -> None:
        while True:
            await self._clock.sleep(_INTERVAL_S)
            now = self._clock.monotonic()
            for caller in list(self._callers.values()):
                is_expired = caller.expires_at is not None and now >= caller.expires_at
                is_idle = not caller.users and now - caller.last_used >= self._limits.idle_s
                if is_expired or is_idle:
                    await self._forget(caller.key)


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)


def _is_refusal(error: Exception) -> bool:
    """Of these credentials. What a certificate's user lacks is a right, which may be granted."""
    return isinstance(error, CLIENT_ERRORS) and problem_of(error).status == HTTPStatus.UNAUTHORIZED


def _too_many_logins() -> GatewayProblem:
    return too_many("CALLERS_EXHAUSTED", "Too many callers are logging in.")
