"""The client that sent a request to a group coordinator."""

from __future__ import annotations

from typing import NamedTuple


class Client(NamedTuple):
    id: str
    # Formatted like Java's InetAddress, as Kafka's tools print it: with a leading slash.
    host: str
    # The API version of the request.
    version: int
