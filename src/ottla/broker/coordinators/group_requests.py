"""The client of a group request, as the group coordinator identifies it."""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext
from ottla.coordinator.groups.client import Client


def client_of(context: RequestContext) -> Client:
    return Client(context.client_id, f"/{context.client_host}", context.api_version)
