"""The client that sent a request to a group coordinator."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Describable: TypeAlias = Callable[[frozenset[str]], frozenset[str]]


def everything(topics: frozenset[str]) -> frozenset[str]:
    return topics


class Client(NamedTuple):
    id: str
    # Formatted like Java's InetAddress, as Kafka's tools print it: with a leading slash.
    host: str
    # The API version of the request.
    version: int
    # Of these topics, the ones that the client may describe.
    describable: Describable = everything
