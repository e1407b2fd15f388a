"""OAUTHBEARER of a client that stays: a token is kept for most of its life, and then replaced."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final

from ottla.channels.authentication import AuthenticationFailedError
from ottla.channels.errors import ChannelError
from ottla.client_security.bearer_token import BearerToken, BearerTokenSource
from ottla.client_security.errors import ClientPropertyError, NoTokenError
from ottla.runtime.clock import Clock
from ottla.security.sasl.mechanism import ClientMechanism
from ottla.security.sasl.oauthbearer import OAuthBearerClient

# As sasl.login.refresh.window.factor.
_KEPT_FRACTION: Final = 0.8


class BearerLogin:
    """`prepare` is awaited before each exchange, `mechanism` makes it."""

    def __init__(
        self, source: BearerTokenSource, context: ssl.SSLContext | None, clock: Clock
    ) -> None:
        self._source = source
        self._context = context
        self._clock = clock
        self._token: BearerToken | None = None
        self._fresh_until_s = 0.0

    async def prepare(self) -> None:
        """Gets a token, in a thread, unless there is a fresh one. Raises ChannelError if that may
        succeed later, and otherwise AuthenticationFailedError."""
        now_s = self._clock.now_ms() / 1_000
        if self._token is not None and now_s < self._fresh_until_s:
            return
        try:
            token = await asyncio.to_thread(self._source.token, self._context)
        except NoTokenError as error:
            raise ChannelError(_text(error)) from error
        except ClientPropertyError as error:
            raise AuthenticationFailedError(_text(error)) from error
        self._token = token
        # A token that does not say when it expires is requested for each connection.
        self._fresh_until_s = now_s
        if token.expires_at_s is not None:
            self._fresh_until_s += (token.expires_at_s - now_s) * _KEPT_FRACTION

    def mechanism(self) -> ClientMechanism:
        token = self._token
        assert token is not None, "prepare is awaited first"
        return OAuthBearerClient(lambda: token.value)


def _text(error: ClientPropertyError) -> str:
    return " ".join((error.message, *error.hints))
