"""Where the gateway finds a schema registry, and as whom it calls it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ottla.configs.value import Password
from ottla.web.service.listening import is_loopback_host


@dataclass(frozen=True, slots=True)
class RegistryAccess:
    """The credentials are the gateway's own: those of callers are for the cluster. Without an
    `ssl_context`, the system's authorities are trusted."""

    url: str = field(repr=False)
    username: str | None = None
    password: Password | None = field(default=None, repr=False)
    token: Password | None = field(default=None, repr=False)
    ssl_context: ssl.SSLContext | None = field(default=None, repr=False)

    def warning(self) -> str | None:
        parts = urlsplit(self.url)
        has_credentials = bool(self.username or self.token or parts.username)
        if parts.scheme == "https" or not has_credentials or is_loopback_host(parts.hostname or ""):
            return None
        return (
            f"the credentials for the schema registry are sent to {parts.hostname} in plaintext: "
            "use https://"
        )
