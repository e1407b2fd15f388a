"""What clients of tenants see."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.simulation.history.history import Event


@dataclass(frozen=True, slots=True)
class TenantSaw(Event):
    """A client of a tenant saw these names of topics and groups, and records of these tenants."""

    tenant: str
    names: tuple[str, ...]
    writers: tuple[str, ...]
