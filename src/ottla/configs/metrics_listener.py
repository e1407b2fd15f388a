"""Parses `ottla.metrics.listener`: where a node serves its metrics and its health."""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.configs.errors import InvalidConfigError
from ottla.configs.quorum_addresses import ControllerAddress

NAME: Final = "ottla.metrics.listener"
_LOOPBACK: Final = "127.0.0.1"


class MetricsListener(NamedTuple):
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        host = self.host.lower()
        return host in ("localhost", "::1") or host.startswith("127.")


def parse_metrics_listener(text: str) -> MetricsListener | None:
    """None if it is empty. A port alone is one of the loopback address: other machines can reach
    the listener only if a host says so."""
    if not text.strip():
        return None
    found = ControllerAddress.parse(f"{_LOOPBACK}:{text}" if text.isdigit() else text)
    if found is None or not found.host or "://" in text:
        raise InvalidConfigError.of_value(
            NAME, text, reason="it must be HOST:PORT, or a PORT of 127.0.0.1, such as 9404"
        )
    return MetricsListener(*found)
