"""One HTTPS request, as `ottla.runtime.https` sends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ottla.configs.value import Password

CONNECT_SECONDS_MAX: Final = 10.0
SECONDS_MAX: Final = 30.0


class HttpsError(OSError):
    """The request failed. The message contains the host, and nothing else of the URL. `status` is
    that of a response that came, or 0."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class HttpContent(NamedTuple):
    """What a POST sends, with the headers that go with it. Their values may be secrets."""

    type: str
    body: bytes
    headers: Mapping[str, Password]


@dataclass(frozen=True, slots=True)
class HttpsRequest:
    """A GET, or a POST if there is a form or other content. `authorization` is the value of that
    header. Only with `allows_plaintext` the URL may start with http:// instead of https://."""

    url: str = field(repr=False)
    form: Password | None = None
    authorization: Password | None = None
    content: HttpContent | None = None
    allows_plaintext: bool = False
    connect_seconds_max: float = CONNECT_SECONDS_MAX
    seconds_max: float = SECONDS_MAX
