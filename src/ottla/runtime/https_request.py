"""One HTTPS request, as `ottla.runtime.https` sends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ottla.configs.value import Password

CONNECT_SECONDS_MAX: Final = 10.0
SECONDS_MAX: Final = 30.0


class HttpsError(OSError):
    """The request failed. The message contains the host, and nothing else of the URL."""


@dataclass(frozen=True, slots=True)
class HttpsRequest:
    """A GET, or a POST if there is a form. `authorization` is the value of that header."""

    url: str = field(repr=False)
    form: Password | None = None
    authorization: Password | None = None
    connect_seconds_max: float = CONNECT_SECONDS_MAX
    seconds_max: float = SECONDS_MAX
