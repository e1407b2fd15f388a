"""Where an instance of a program serves its API to the other instances."""

from __future__ import annotations

import msgspec


class InstanceAddress(msgspec.Struct, frozen=True):
    """Where an instance serves its API to the others."""

    host: str
    port: int
    scheme: str = "http"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"
