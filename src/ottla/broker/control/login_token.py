"""The OAUTHBEARER token with which this node connects to other nodes.

    no token ──read──▶ current ──before it expires──▶ reading ──▶ current
                          │
                          └──expired──▶ no token

It is the content of a file, which another program keeps current, or the response of an https server
to a client credentials grant (RFC 6749, section 4.4). The next token is requested when a part of
the lifetime has passed (Kafka's sasl.login.refresh.*). Connections that are open re-authenticate
with the token that is current then.
"""

from __future__ import annotations

import logging
from base64 import b64encode, urlsafe_b64decode
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from ottla.broker.control.oauth_documents import (
    Fetch,
    fetch_document,
    is_file_url,
    path_of,
    read_document,
)
from ottla.configs import InvalidConfigError
from ottla.configs.listener_security import TokenRetrieval
from ottla.configs.value import Password
from ottla.controller.quorum_seams import Seams
from ottla.runtime.exposed_files import warn_if_readable
from ottla.runtime.https_request import CONNECT_SECONDS_MAX, SECONDS_MAX, HttpsRequest
from ottla.security.sasl.json_values import parse_object
from ottla.security.sasl.mechanism import AuthenticationError

_log = logging.getLogger(__name__)

_TOKEN_CHARACTERS_MAX: Final = 65_536
_SECONDS_MAX: Final = 1 << 40
_RANGE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """How this node is known to the provider of tokens."""

    client_id: str
    client_secret: Password
    scope: str | None = None

    def request(self, retrieval: TokenRetrieval) -> HttpsRequest:
        form = {"grant_type": "client_credentials"}
        if self.scope:
            form["scope"] = self.scope
        secret = f"{self.client_id}:{self.client_secret.value}".encode()
        return HttpsRequest(
            retrieval.token_endpoint_url,
            form=Password(urlencode(form)),
            authorization=Password(f"Basic {b64encode(secret).decode()}"),
            connect_seconds_max=_seconds(retrieval.connect_timeout_ms, CONNECT_SECONDS_MAX),
            seconds_max=_seconds(retrieval.read_timeout_ms, SECONDS_MAX),
        )


@dataclass(frozen=True, slots=True)
class _Token:
    text: Password = field(repr=False)
    # By the wall clock; None if the token does not say.
    expires_at_ms: int | None


class LoginToken:
    """Owned by the node's loop; reads end with the node's tasks."""

    def __init__(
        self,
        retrieval: TokenRetrieval,
        credentials: ClientCredentials | None,
        seams: Seams,
        *,
        fetch: Fetch = fetch_document,
    ) -> None:
        """`credentials` are needed unless the token is in a file."""
        self._retrieval = retrieval
        self._disk, self._clock, self._dice, self._background, self._tasks = seams
        self._fetch = fetch
        self._is_file = is_file_url(retrieval.token_endpoint_url)
        if credentials is None:
            assert self._is_file
            self._request = HttpsRequest(retrieval.token_endpoint_url)
        else:
            self._request = credentials.request(retrieval)
        self._token: _Token | None = None
        self._retry_ms = retrieval.retry_backoff_ms

    def start(self) -> None:
        """Reads a file at once and asks a server in the background. Raises InvalidConfigError if
        the file has no token."""
        if not self._is_file:
            self._begin_read()
            return
        try:
            warn_if_readable(path_of(self._request.url), what="token")
            self._token = self._read()
        except (OSError, ValueError) as error:
            raise InvalidConfigError(
                f"this node's OAUTHBEARER token cannot be read: {error}; correct the file or "
                "sasl.oauthbearer.token.endpoint.url"
            ) from None
        self._schedule(self._token)

    def current(self) -> Password:
        """Raises AuthenticationError if there is no token that is still valid."""
        token = self._token
        if token is None:
            raise AuthenticationError("this node has no OAUTHBEARER token yet")
        if token.expires_at_ms is not None and token.expires_at_ms <= self._clock.now_ms():
            raise AuthenticationError("this node's OAUTHBEARER token has expired")
        return token.text

    def _read(self) -> _Token:
        """Runs on a worker. Errors contain nothing of the token."""
        document = read_document(self._disk, self._request, self._fetch)
        if self._is_file:
            text = _ascii(document).strip()
            return _Token(_checked(text), _expiry_of(text))
        response = parse_object(document)
        token, lifetime = _checked(response.get("access_token")), response.get("expires_in")
        if isinstance(lifetime, int | float) and 0 < lifetime < _SECONDS_MAX:
            return _Token(token, self._clock.now_ms() + int(lifetime * 1_000))
        return _Token(token, _expiry_of(token.value))

    def _begin_read(self) -> None:
        if not self._tasks.is_closed:
            self._tasks.start("read login token", self._read_in_background())

    async def _read_in_background(self) -> None:
        try:
            self._token = await self._background.run(self._read)
        except (OSError, ValueError) as error:
            retry_ms = self._retry_ms
            self._retry_ms = min(2 * retry_ms, self._retrieval.retry_backoff_max_ms)
            _log.warning("this node's OAUTHBEARER token was not read: %s; retrying", error)
            self._clock.call_later(retry_ms / 1_000, self._begin_read)
            return
        self._retry_ms = self._retrieval.retry_backoff_ms
        self._schedule(self._token)

    def _schedule(self, token: _Token) -> None:
        self._clock.call_later(self._seconds_until_refresh(token), self._begin_read)

    def _seconds_until_refresh(self, token: _Token) -> float:
        """As Kafka's ExpiringCredentialRefreshingLogin. A file is read at the shortest interval,
        since it may be replaced at any time."""
        retrieval = self._retrieval
        shortest = max(float(retrieval.refresh_min_period_seconds), 1.0)
        if self._is_file or token.expires_at_ms is None:
            return shortest
        lifetime = (token.expires_at_ms - self._clock.now_ms()) / 1_000
        jitter = retrieval.refresh_window_jitter * self._dice.below(_RANGE) / _RANGE
        proposed = lifetime * (retrieval.refresh_window_factor + jitter)
        if shortest + retrieval.refresh_buffer_seconds > lifetime:
            # Too short for the limits.
            return max(proposed, 1.0)
        return max(shortest, min(proposed, lifetime - retrieval.refresh_buffer_seconds))


def _ascii(document: bytes) -> str:
    try:
        return document.decode("ascii")
    except UnicodeDecodeError:
        raise ValueError("the file contains characters that are not allowed in a token") from None


def _checked(text: object) -> Password:
    if not isinstance(text, str) or not 0 < len(text) <= _TOKEN_CHARACTERS_MAX:
        raise ValueError("there is no access token, or it is too long")
    return Password(text)


def _expiry_of(text: str) -> int | None:
    """The claim `exp` of a JWT, which only the server verifies; None for another kind of token."""
    parts = text.split(".")
    if len(parts) != 3:
        return None
    payload = parts[1] + "=" * (-len(parts[1]) % 4)
    try:
        expires_at = parse_object(urlsafe_b64decode(payload)).get("exp")
    except ValueError:
        return None
    if not isinstance(expires_at, int | float) or not 0 < expires_at < _SECONDS_MAX:
        return None
    return int(expires_at * 1_000)


def _seconds(milliseconds: int | None, default: float) -> float:
    return default if not milliseconds else milliseconds / 1_000
