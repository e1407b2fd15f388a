"""OAUTHBEARER tokens of a client: from a file, or from an endpoint by its client id and secret."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from ottla.client_security.errors import ClientPropertyError, NoTokenError, unreadable
from ottla.configs.value import Password

if TYPE_CHECKING:
    import ssl

TOKEN_URL: Final = "sasl.oauthbearer.token.endpoint.url"  # noqa: S105 - the name
CLIENT_ID: Final = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET: Final = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105 - the name
SCOPE: Final = "sasl.oauthbearer.scope"
_JWT_PARTS: Final = 3


class BearerToken(NamedTuple):
    """`expires_at_s` and `subject` are what the token says of itself; it is not verified here."""

    value: Password
    expires_at_s: float | None
    subject: str


@dataclass(frozen=True, slots=True)
class BearerTokenSource:
    """Asked for a token before each connection."""

    url: str
    client_id: str | None = None
    client_secret: Password | None = field(default=None, repr=False)
    scope: str | None = None

    @classmethod
    def parse(
        cls,
        url: str,
        *,
        client_id: str | None,
        client_secret: Password | None,
        scope: str | None,
    ) -> BearerTokenSource:
        """Raises ClientPropertyError."""
        scheme = urlsplit(url).scheme
        if scheme == "file":
            return cls(url)
        if scheme != "https":
            raise _usage(
                f"{TOKEN_URL} must begin with https:// or file://, so that the token is not sent "
                "in plaintext."
            )
        if not client_id or client_secret is None:
            raise _usage(f"{TOKEN_URL} needs {CLIENT_ID} and {CLIENT_SECRET}.")
        return cls(url, client_id, client_secret, scope)

    def token(self, context: ssl.SSLContext | None = None) -> BearerToken:
        """`context` is for the connection to an endpoint. Raises ClientPropertyError."""
        parts = urlsplit(self.url)
        text = self._from_file(unquote(parts.path)) if parts.scheme == "file" else None
        return _described(text if text is not None else self._from_endpoint(context))

    def _from_file(self, path: str) -> str:
        try:
            return Path(path).read_text("ascii").strip()
        except OSError as error:
            raise unreadable(path, error, remedy=f"correct {TOKEN_URL}") from None
        except UnicodeDecodeError:
            raise _usage(f"{path} has characters that are not allowed in a token.") from None

    def _from_endpoint(self, context: ssl.SSLContext | None) -> str:
        # Most commands never need HTTP.
        from ottla.client_security.token_endpoint import request_token

        assert self.client_id is not None
        assert self.client_secret is not None
        try:
            return request_token(
                self.url,
                client_id=self.client_id,
                client_secret=self.client_secret,
                scope=self.scope,
                context=context,
            )
        except OSError as error:
            raise NoTokenError(
                f"Cannot get a token from {self.url}: {error}.",
                f"Check {TOKEN_URL}, {CLIENT_ID} and {CLIENT_SECRET}.",
            ) from None


def _described(text: str) -> BearerToken:
    parts = text.split(".")
    claims: Any = {}
    if len(parts) == _JWT_PARTS:
        try:
            claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        except ValueError:
            claims = {}
    if not isinstance(claims, dict):
        claims = {}
    expires_at_s, subject = claims.get("exp"), claims.get("sub")
    return BearerToken(
        Password(text),
        float(expires_at_s) if isinstance(expires_at_s, int | float) else None,
        subject if isinstance(subject, str) else "",
    )


def _usage(message: str) -> ClientPropertyError:
    return ClientPropertyError(message)
