"""SASL OAUTHBEARER: a bearer token in one message (RFC 7628). Use it over TLS only.

client  n,[a=NAME],^A auth=Bearer TOKEN ^A [LETTERS=VALUE ^A ...] ^A        (^A is byte 1)
server  an empty message, or {"status":"invalid_token"}, which the client answers with ^A
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from ottla.configs.value import Password
from ottla.security.sasl.mechanism import (
    AuthenticationError,
    Identity,
    InvalidCredentialsError,
    Mechanism,
    ServerReply,
)
from ottla.security.sasl.scram_messages import escape_name, unescape_name

_SEPARATOR: Final = "\x01"
_AUTHORIZATION: Final = "auth"
_KEY: Final = re.compile(r"[A-Za-z]+")
_VALUE: Final = re.compile(r"[\x21-\x7e \t\r\n]+")
_BEARER: Final = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([-_~+/.A-Za-z0-9]+=*)")
_TOKEN: Final = re.compile(r"[-_~+/.A-Za-z0-9]+=*")
# As in Kafka, for every token that is refused.
_REFUSAL: Final = '{"status":"invalid_token"}'


class VerifiedToken(NamedTuple):
    """What a valid token says."""

    name: str
    expires_at_ms: int
    scopes: frozenset[str] = frozenset()


class TokenVerifier(Protocol):
    def verify(self, token: str, *, now_ms: int) -> VerifiedToken:
        """Raises an AuthenticationError if the token is not valid now."""


@dataclass(frozen=True, slots=True)
class BearerMessage:
    """The client's first message."""

    authorization_id: str
    token: str = field(repr=False)
    extensions: Mapping[str, str] = field(repr=False)


class OAuthBearerServer:
    """WAITING_TOKEN -> done, or -> WAITING_END after a refused token. An error ends it. As opposed
    to Kafka's, it takes no second token in the same exchange."""

    __slots__ = ("_is_used", "_refusal", "_verifier")

    def __init__(self, verifier: TokenVerifier) -> None:
        self._verifier = verifier
        self._is_used = False
        # Why the token was refused, until the client has answered.
        self._refusal: str | None = None

    def evaluate(self, message: bytes, *, now_ms: int) -> ServerReply:
        if self._refusal is not None:
            refusal, self._refusal = self._refusal, None
            raise AuthenticationError(_REFUSAL, reason=refusal)
        if self._is_used:
            raise InvalidCredentialsError("OAUTHBEARER: a second message")
        self._is_used = True
        try:
            bearer = parse_bearer_message(message)
        except ValueError as error:
            raise InvalidCredentialsError(f"OAUTHBEARER: {error}") from None
        try:
            verified = self._verifier.verify(bearer.token, now_ms=now_ms)
        except AuthenticationError as error:
            self._refusal = error.reason
            return ServerReply(_REFUSAL.encode())
        if bearer.authorization_id not in ("", verified.name):
            raise AuthenticationError("the authorization id must be empty or the token's subject")
        identity = Identity(
            verified.name, expires_at_ms=verified.expires_at_ms, extensions=bearer.extensions
        )
        return ServerReply(b"", identity)


class OAuthBearerClient:
    """Sends the token that `token` returns; the server proves nothing."""

    __slots__ = ("_extensions", "_is_refused", "_token", "is_complete")

    def __init__(
        self, token: Callable[[], Password], *, extensions: Mapping[str, str] | None = None
    ) -> None:
        self._token = token
        self._extensions = dict(extensions or {})
        self._is_refused = False
        self.is_complete = False

    @property
    def name(self) -> Mechanism:
        return Mechanism.OAUTHBEARER

    def first_message(self) -> bytes:
        try:
            return make_bearer_message(self._token().value, extensions=self._extensions)
        except ValueError as error:
            raise AuthenticationError(f"OAUTHBEARER: {error}") from None

    def evaluate(self, challenge: bytes) -> bytes | None:
        if self.is_complete or self._is_refused:
            raise AuthenticationError("OAUTHBEARER: the server refused the token")
        if challenge:
            # The server waits for this message before it reports the error.
            self._is_refused = True
            return _SEPARATOR.encode()
        self.is_complete = True
        return None


def make_bearer_message(
    token: str, *, authorization_id: str = "", extensions: Mapping[str, str]
) -> bytes:
    """Raises a ValueError that contains neither the token nor an extension's value."""
    if not _TOKEN.fullmatch(token):
        raise ValueError("the token has characters that are not allowed in a bearer token")
    for key, value in extensions.items():
        if key == _AUTHORIZATION or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
            raise ValueError("an extension must have a name of letters and a printable value")
    name = f"a={escape_name(authorization_id)}" if authorization_id else ""
    pairs = [f"{key}={value}" for key, value in extensions.items()]
    parts = [f"n,{name},", f"{_AUTHORIZATION}=Bearer {token}", *pairs, "", ""]
    return _SEPARATOR.join(parts).encode("ascii")


def parse_bearer_message(message: bytes) -> BearerMessage:
    """Raises a ValueError that contains none of the message."""
    try:
        header, *pairs = message.decode("ascii").split(_SEPARATOR)
    except UnicodeDecodeError:
        raise ValueError("the message is not ASCII") from None
    if len(pairs) < 3 or pairs[-2:] != ["", ""]:
        raise ValueError("the message is cut short")
    values: dict[str, str] = {}
    for pair in pairs[:-2]:
        key, _, value = pair.partition("=")
        if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value) or key in values:
            raise ValueError("a key or value is malformed or repeated")
        values[key] = value
    bearer = _BEARER.fullmatch(values.pop(_AUTHORIZATION, ""))
    if bearer is None:
        raise ValueError("the message has no bearer token")
    return BearerMessage(_authorization_id(header), bearer.group(1), values)


def _authorization_id(header: str) -> str:
    parts = header.split(",")
    if len(parts) != 3 or parts[0] != "n" or parts[2]:
        raise ValueError("the GS2 header must be n: channel binding is not supported")
    if not parts[1]:
        return ""
    if not parts[1].startswith("a="):
        raise ValueError("the authorization id is malformed")
    return unescape_name(parts[1].removeprefix("a="))
