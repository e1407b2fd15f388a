"""The keys with which a listener verifies OAUTHBEARER tokens, read from a file or an https server.

    no keys ──read──▶ current ──refresh interval, or a token names an unknown key──▶ reading
                         ▲                                                             │
                         └───────────────── read, or failed (retried) ─────────────────┘

Keys stay in use until others were read. Without keys all tokens are refused.

Anyone can send a token that names an unknown key. So such tokens cause one read at a time, with a
pause that doubles with each read that brought no new keys, from `retry.backoff.ms` to
`retry.backoff.max.ms`.
"""

from __future__ import annotations

import logging
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.oauth_documents import (
    Fetch,
    fetch_document,
    is_file_url,
    path_of,
    read_document,
)
from ottla.configs import InvalidConfigError
from ottla.configs.listener_security import TokenValidation
from ottla.controller.quorum_seams import Seams
from ottla.runtime.clock import Timer
from ottla.runtime.exposed_files import warn_if_replaceable
from ottla.runtime.https_request import HttpsRequest
from ottla.security.sasl.jwt import InvalidKeysError, JwtVerifier
from ottla.security.sasl.jwt_claims import ClaimSettings

_log = logging.getLogger(__name__)

_REFRESH_JITTER: Final = 0.1


class TokenKeys:
    """The keys of one listener. Owned by the node's loop; reads end with the node's tasks."""

    def __init__(
        self,
        listener: str,
        settings: TokenValidation,
        seams: Seams,
        *,
        fetch: Fetch = fetch_document,
    ) -> None:
        """Raises InvalidConfigError if the extra `ottla[security]` is not installed."""
        self._listener = listener
        self._settings = settings
        self._disk, self._clock, self._dice, self._background, self._tasks = seams
        self._fetch = fetch
        try:
            self.verifier = JwtVerifier(
                _claim_settings(settings), on_unknown_key=self._read_for_unknown_key
            )
        except ImportError as error:
            raise InvalidConfigError(f"listener {listener}: {error}") from None
        self._request = HttpsRequest(settings.jwks_endpoint_url)
        self._document: bytes | None = None
        self._timer: Timer | None = None
        self._due = 0.0
        self._is_reading = False
        self._last_read = 0.0
        self._retry_ms = self._unknown_key_ms = settings.jwks_retry_backoff_ms

    def start(self) -> None:
        """Reads the keys for the first time: from a file at once, from a server in the background.
        Raises InvalidConfigError if there are none in the file."""
        if not is_file_url(self._settings.jwks_endpoint_url):
            self._begin_read()
            return
        try:
            warn_if_replaceable(path_of(self._request.url), what="JWKS")
            self._read()
        except (OSError, InvalidKeysError) as error:
            raise InvalidConfigError(
                f"listener {self._listener} cannot read the keys of OAUTHBEARER tokens: {error}; "
                "correct the file or sasl.oauthbearer.jwks.endpoint.url"
            ) from None
        self._last_read = self._clock.monotonic()
        self._schedule_refresh()

    def _read(self) -> bool:
        """Runs on a worker. Returns whether the keys are others than before."""
        document = read_document(self._disk, self._request, self._fetch)
        if document == self._document:
            return False
        self.verifier.replace_keys(document)
        self._document = document
        return True

    def _read_for_unknown_key(self) -> None:
        if self._is_reading:
            return
        soonest = self._last_read + self._unknown_key_ms / 1_000
        if soonest < self._due:
            self._unknown_key_ms = self._doubled(self._unknown_key_ms)
            self._schedule(soonest)

    def _schedule_refresh(self) -> None:
        seconds = self._settings.jwks_refresh_ms / 1_000
        self._schedule(
            self._clock.monotonic() + self._dice.jitter(seconds, fraction=_REFRESH_JITTER)
        )

    def _schedule(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = self._clock.call_later(
            max(0.0, due - self._clock.monotonic()), self._begin_read
        )

    def _begin_read(self) -> None:
        self._timer = None
        if not self._tasks.is_closed:
            self._is_reading = True
            self._tasks.start(f"read token keys of {self._listener}", self._read_in_background())

    async def _read_in_background(self) -> None:
        try:
            is_new = await self._background.run(self._read)
        except (OSError, InvalidKeysError) as error:
            retry_ms, self._retry_ms = self._retry_ms, self._doubled(self._retry_ms)
            _log.warning(
                "the keys of OAUTHBEARER tokens on listener %s were not read: %s; retrying",
                self._listener,
                error,
            )
            self._last_read = self._clock.monotonic()
            self._schedule(self._last_read + retry_ms / 1_000)
            return
        finally:
            self._is_reading = False
        self._last_read = self._clock.monotonic()
        self._retry_ms = self._settings.jwks_retry_backoff_ms
        if is_new:
            self._unknown_key_ms = self._settings.jwks_retry_backoff_ms
            _log.info("listener %s uses new keys for OAUTHBEARER tokens", self._listener)
        self._schedule_refresh()

    def _doubled(self, backoff_ms: int) -> int:
        return min(2 * backoff_ms, self._settings.jwks_retry_backoff_max_ms)


class TokenVerifiers:
    """The verifier of each listener that accepts OAUTHBEARER tokens. Owned by the node's loop."""

    def __init__(self, cluster: ClusterView, seams: Seams) -> None:
        self._cluster = cluster
        self._seams = seams
        self._keys: dict[str, TokenKeys] = {}

    def of(self, listener: str) -> JwtVerifier | None:
        """None for a listener without OAUTHBEARER. The first call for a listener reads its keys.
        Raises InvalidConfigError if they are in a file that cannot be used."""
        security = self._cluster.config.listener_security.get(listener)
        oauth = None if security is None or security.sasl is None else security.sasl.oauth
        if oauth is None or oauth.validation is None:
            return None
        keys = self._keys.get(listener)
        if keys is None:
            keys = TokenKeys(listener, oauth.validation, self._seams)
            keys.start()
            self._keys[listener] = keys
        return keys.verifier


def _claim_settings(settings: TokenValidation) -> ClaimSettings:
    return ClaimSettings(
        expected_issuer=settings.expected_issuer,
        expected_audience=frozenset(settings.expected_audience),
        clock_skew_seconds=settings.clock_skew_seconds,
        scope_claim_name=settings.scope_claim_name,
        sub_claim_name=settings.sub_claim_name,
    )
