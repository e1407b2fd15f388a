"""What clients of tenants see, and what their operator sees."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.simulation.history.history import Event


@dataclass(frozen=True, slots=True)
class TenantSaw(Event):
    """A client of a tenant saw these names of topics and groups, and records of these tenants."""

    tenant: str
    names: tuple[str, ...]
    writers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserTopicsSeen(Event):
    """The operator saw so many topics of all users, who are one here, and may have so many."""

    count: int
    limit: int
