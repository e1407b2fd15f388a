"""Delegation tokens for the users of client certificates (KIP-373).

The gateway requests a token that belongs to the user, for which its own user needs the right
CREATE_TOKENS on that user, and logs in with it. A token is replaced before it expires.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.client.administration.admin import Admin
from ottla.configs.value import Password
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.security.principal import Principal
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS

_log = logging.getLogger(__name__)

_USER: Final = "User"
# This part of a token's life is used.
_SHARE: Final = 0.8
_INTERVAL_S: Final = 10.0
_TOKENS_MAX: Final = 10_000
_MS: Final = 1_000


class IssuedToken(NamedTuple):
    """The token's id and HMAC are a user name and a password of SCRAM. Times are monotonic."""

    id: str
    password: Password
    replace_at: float


class TokenIssuer:
    """Tokens by user. `admin` makes the gateway's own client, when the first token is needed."""

    def __init__(self, admin: Callable[[], Admin], clock: Clock) -> None:
        self._make_admin = admin
        self._clock = clock
        self._admin: Admin | None = None
        self._tokens: OrderedDict[str, IssuedToken] = OrderedDict()
        self._lock = asyncio.Lock()
        self._tasks = Tasks(_failed)

    async def token(self, username: str) -> IssuedToken:
        """Raises the client's error if the gateway may not have one."""
        async with self._lock:
            known = self._tokens.get(username)
            if known is None or self._clock.monotonic() >= known.replace_at:
                known = await self._request(username)
        return known

    def ready_token(self, username: str) -> IssuedToken:
        """The token of a user who has one."""
        return self._tokens[username]

    async def close(self) -> None:
        await self._tasks.close()
        if self._admin is not None:
            await self._admin.close()

    async def _request(self, username: str) -> IssuedToken:
        if self._admin is None:
            self._admin = self._make_admin()
            self._tasks.start("replacing delegation tokens", self._replace())
        made = await self._admin.create_delegation_token(owner=Principal(_USER, username))
        life_s = max(made.expires_ms - self._clock.now_ms(), 0) / _MS
        token = self._tokens[username] = IssuedToken(
            made.id,
            Password(base64.b64encode(made.hmac).decode()),
            self._clock.monotonic() + life_s * _SHARE,
        )
        self._tokens.move_to_end(username)
        if len(self._tokens) > _TOKENS_MAX:
            self._tokens.popitem(last=False)
        return token

    async def _replace(self) -> None:
        """Open connections log in again with `ready_token`."""
        while True:
            await self._clock.sleep(_INTERVAL_S)
            now = self._clock.monotonic()
            for username in [
                name for name, token in self._tokens.items() if now >= token.replace_at
            ]:
                try:
                    await self.token(username)
                except CLIENT_ERRORS as error:
                    _log.warning("cannot replace the token of %s: %s", username, error)


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
