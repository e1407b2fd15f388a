"""What the handlers of group requests share: the client, and partitions that do not exist."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Protocol

from ottla.broker.network.handling import RequestContext
from ottla.coordinator.groups.client import Client


class _Topic(Protocol):
    """A topic of a request. Each API has its own struct for the partitions."""

    partitions: list[Any]


def client_of(context: RequestContext) -> Client:
    """The client as the group coordinator identifies it."""
    return Client(context.client_id, f"/{context.client_host}", context.api_version)


def take_unknown(requested: _Topic, known: Container[int]) -> list[int]:
    """Removes unknown partitions from the request and returns their indexes."""
    unknown = [
        each.partition_index for each in requested.partitions if each.partition_index not in known
    ]
    if unknown:
        requested.partitions = [
            each for each in requested.partitions if each.partition_index in known
        ]
    return unknown
