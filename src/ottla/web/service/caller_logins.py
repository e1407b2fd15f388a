"""Logins at the cluster with callers' credentials: shared, limited, and remembered where refused.

Requests that arrive together with the same credentials share one login, which goes on if the one
that began it is cancelled. A refusal is remembered for some seconds, so that a client that repeats
a wrong password does not make a login of each request. It is remembered for exactly these
credentials: after a wrong password, a client with the right one can still log in as that user.
Unknown users are refused in the same way as wrong passwords.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Final, Generic, NamedTuple, TypeVar

from ottla.channels import ChannelSecurity
from ottla.configs.value import Password
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.security.sasl.oauthbearer import OAuthBearerClient
from ottla.security.sasl.plain import PlainClient
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import SCRAM_BY_NAME, random_text
from ottla.web.service.identity import BearerCredentials, Credentials

_REFUSED_S: Final = 5.0
_REFUSED_MAX: Final = 10_000
_RUNNING_MAX: Final = 50

T = TypeVar("T")


class _Refusal(NamedTuple):
    error: Exception
    until: float


class CallerLogins(Generic[T]):
    """`is_refusal` says which errors of a login the same credentials would get again; `full` makes
    the error for a request that finds too many logins running. Ended by `close`."""

    def __init__(
        self,
        clock: Clock,
        is_refusal: Callable[[Exception], bool],
        full: Callable[[], Exception],
        *,
        running_max: int = _RUNNING_MAX,
    ) -> None:
        self._clock = clock
        self._is_refusal = is_refusal
        self._full = full
        self._running_max = running_max
        self._running: dict[Hashable, asyncio.Task[T]] = {}
        self._refused: OrderedDict[Hashable, _Refusal] = OrderedDict()

    def __len__(self) -> int:
        """Those that run."""
        return len(self._running)

    async def run(self, key: Hashable, login: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """`key` stands for the credentials. Raises what the login raises."""
        refusal = self._refused.get(key)
        if refusal is not None:
            if self._clock.monotonic() < refusal.until:
                raise refusal.error.with_traceback(None)
            del self._refused[key]
        task = self._running.get(key)
        if task is None:
            if len(self._running) >= self._running_max:
                raise self._full()
            task = self._running[key] = asyncio.get_running_loop().create_task(login())
            task.add_done_callback(lambda ended: self._ended(key, ended))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancels those that run."""
        for task in self._running.values():
            task.cancel()
        while self._running:
            await asyncio.wait(self._running.values())

    def _ended(self, key: Hashable, task: asyncio.Task[T]) -> None:
        del self._running[key]
        # Retrieves a failure that no request waits for any more.
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception) and self._is_refusal(error):
            self._refused[key] = _Refusal(error, self._clock.monotonic() + _REFUSED_S)
            self._refused.move_to_end(key)
            if len(self._refused) > _REFUSED_MAX:
                self._refused.popitem(last=False)


def caller_security(
    own: ChannelSecurity, credentials: Credentials, passwords: Mechanism, dice: Dice
) -> ChannelSecurity:
    """Connections as this caller: with the TLS of the program's own, and the caller's credentials.
    `passwords` is the mechanism of those."""
    return ChannelSecurity(tls=own.tls, mechanism=lambda: _mechanism(credentials, passwords, dice))


def _mechanism(credentials: Credentials, passwords: Mechanism, dice: Dice) -> ClientMechanism:
    if isinstance(credentials, BearerCredentials):
        return OAuthBearerClient(lambda: credentials.token)
    if passwords is Mechanism.PLAIN:
        return PlainClient(credentials.username, credentials.password)
    return scram(passwords, credentials.username, credentials.password, dice, is_token=False)


def scram(
    mechanism: Mechanism, username: str, password: Password, dice: Dice, *, is_token: bool
) -> ScramClient:
    nonce = random_text(dice.below)
    return ScramClient(SCRAM_BY_NAME[mechanism], username, password, nonce=nonce, is_token=is_token)
