"""Who asks a group coordinator for something."""

from __future__ import annotations

from typing import NamedTuple


class Client(NamedTuple):
    id: str
    # As Java shows an address, which Kafka's tools print: with a slash before it.
    host: str
    # Of the API that it uses.
    version: int
