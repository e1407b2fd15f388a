"""The client of a group request, as the group coordinator identifies it."""

from __future__ import annotations

from functools import partial

from ottla.broker.network.handling import RequestContext
from ottla.coordinator.groups.client import Client
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights


def client_of(context: RequestContext) -> Client:
    client = Client(context.client_id, f"/{context.client_host}", context.api_version)
    if context.rights.is_unrestricted:
        return client
    return client._replace(describable=partial(_describable, context.rights))


def _describable(rights: Rights, topics: frozenset[str]) -> frozenset[str]:
    return frozenset(
        rights.allowed(AclOperation.DESCRIBE, ResourceType.TOPIC, topics, is_audited=False)
    )
