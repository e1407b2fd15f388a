"""Parses where a node sends its metrics, and other programs their traces: an endpoint of OTLP over
HTTP, and the headers of its requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from ottla.configs.errors import InvalidConfigError
from ottla.configs.value import Password

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


class OtlpSetting(NamedTuple):
    """What the endpoint and its headers are called where they are set, and the path of a URL that
    has none."""

    endpoint: str
    headers: str
    path: str


METRICS: Final = OtlpSetting(
    "ottla.metrics.otlp.endpoint", "ottla.metrics.otlp.headers", "/v1/metrics"
)


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


def parse_otlp_endpoint(
    text: str, headers: Password | None, setting: OtlpSetting = METRICS
) -> OtlpEndpoint | None:
    """None if the endpoint is empty. Raises InvalidConfigError, whose message does not show the
    URL, which may contain a token."""
    if not text.strip():
        return None
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError:
        raise _invalid(setting, "it is not a valid URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _invalid(setting, "it must be an http: or https: URL, such as http://127.0.0.1:4318")
    if parts.username is not None or parts.password is not None:
        raise _invalid(
            setting, f"it must not contain a user name or a password; use {setting.headers}"
        )
    url = parts._replace(path=parts.path.rstrip("/") or setting.path, fragment="").geturl()
    found = _headers_of(headers, setting)
    return OtlpEndpoint(url, parts.hostname, parts.scheme == "https", found)


def _headers_of(headers: Password | None, setting: OtlpSetting) -> dict[str, Password]:
    found = {}
    for number, part in enumerate("" if headers is None else headers.value.split(","), start=1):
        if not part.strip():
            continue
        name, separator, value = (each.strip() for each in part.partition("="))
        value = unquote(value)
        if not separator or not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidConfigError(f"{setting.headers}: header {number} must be NAME=VALUE")
        found[name] = Password(value)
    return found


def _invalid(setting: OtlpSetting, reason: str) -> InvalidConfigError:
    return InvalidConfigError(f"{setting.endpoint}: {reason}")
