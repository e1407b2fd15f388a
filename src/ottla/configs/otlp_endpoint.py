"""Parses `ottla.metrics.otlp.endpoint` and its headers: where a node sends its metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from ottla.configs.errors import InvalidConfigError
from ottla.configs.value import Password

_ENDPOINT: Final = "ottla.metrics.otlp.endpoint"
_HEADERS: Final = "ottla.metrics.otlp.headers"
_PATH: Final = "/v1/metrics"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class OtlpEndpoint:
    url: str = field(repr=False)
    host: str
    is_https: bool
    headers: Mapping[str, Password]

    @property
    def is_protected(self) -> bool:
        """Whether what is sent cannot be read on the network."""
        return self.is_https or self.host.lower() in _LOOPBACK


def parse_otlp_endpoint(text: str, headers: Password | None) -> OtlpEndpoint | None:
    """None if the endpoint is empty. The messages do not show the URL, which may contain a
    token."""
    if not text.strip():
        return None
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError:
        raise _invalid("it is not a valid URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _invalid("it must be an http: or https: URL, such as http://127.0.0.1:4318")
    if parts.username is not None or parts.password is not None:
        raise _invalid(f"it must not contain a user name or a password; use {_HEADERS}")
    url = parts._replace(path=parts.path.rstrip("/") or _PATH, fragment="").geturl()
    return OtlpEndpoint(url, parts.hostname, parts.scheme == "https", _headers_of(headers))


def _headers_of(headers: Password | None) -> dict[str, Password]:
    found = {}
    for number, part in enumerate("" if headers is None else headers.value.split(","), start=1):
        if not part.strip():
            continue
        name, separator, value = (each.strip() for each in part.partition("="))
        value = unquote(value)
        if not separator or not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidConfigError(f"{_HEADERS}: header {number} must be NAME=VALUE")
        found[name] = Password(value)
    return found


def _invalid(reason: str) -> InvalidConfigError:
    return InvalidConfigError(f"{_ENDPOINT}: {reason}")
