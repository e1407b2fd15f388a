"""What the handlers of group requests share: the client, and partitions that do not exist."""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from typing import Any, Protocol

from ottla.broker.network.handling import RequestContext
from ottla.coordinator.groups.client import Client
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights


class _Topic(Protocol):
    """A topic of a request. Each API has its own struct for the partitions."""

    partitions: list[Any]


def client_of(context: RequestContext) -> Client:
    """The client as the group coordinator identifies it."""
    client = Client(context.client_id, f"/{context.client_host}", context.api_version)
    if context.rights.is_unrestricted:
        return client
    return client._replace(describable=partial(_describable, context.rights))


def _describable(rights: Rights, topics: frozenset[str]) -> frozenset[str]:
    return frozenset(
        rights.allowed(AclOperation.DESCRIBE, ResourceType.TOPIC, topics, is_audited=False)
    )


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
