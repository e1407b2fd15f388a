"""Requests a token by OAuth's client credentials grant (RFC 6749, 4.4).

A POST with the client's id and secret in the Authorization header, answered with a token in JSON.
"""

from __future__ import annotations

import base64
import json
import ssl
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote_plus, urlencode
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from ottla.configs.value import Password

_TIMEOUT_S: Final = 10.0
_ANSWER_BYTES_MAX: Final = 1 << 20


class TokenEndpointError(OSError):
    """There is no token. The message has no secrets."""


class _NoRedirects(HTTPRedirectHandler):
    """The secret is for one address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def request_token(
    url: str,
    *,
    client_id: str,
    client_secret: Password,
    scope: str | None,
    context: ssl.SSLContext | None,
) -> str:
    """Raises TokenEndpointError."""
    form = {"grant_type": "client_credentials"}
    if scope:
        form["scope"] = scope
    request = Request(  # noqa: S310 - the caller allows https only
        url,
        data=urlencode(form).encode(),
        headers={
            "Accept": "application/json",
            "Authorization": f"Basic {_identity(client_id, client_secret)}",
        },
    )
    opener = build_opener(HTTPSHandler(context=context), _NoRedirects())
    try:
        with opener.open(request, timeout=_TIMEOUT_S) as answer:
            token = json.loads(answer.read(_ANSWER_BYTES_MAX))["access_token"]
    except HTTPError as error:
        # It is also the response, and has its connection.
        error.close()
        raise TokenEndpointError(f"{error.code} {error.reason}") from None
    except OSError as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise TokenEndpointError(str(reason)) from None
    except (ValueError, KeyError, TypeError):
        raise TokenEndpointError("the answer has no access_token") from None
    if not isinstance(token, str):
        raise TokenEndpointError("the access_token of the answer is not a string")
    return token


def _identity(client_id: str, client_secret: Password) -> str:
    """Form-encoded before Base64, as the RFC has it."""
    pair = f"{quote_plus(client_id)}:{quote_plus(client_secret.value)}"
    return base64.b64encode(pair.encode()).decode()
