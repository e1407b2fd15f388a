"""The property of tenants that every history must have."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.simulation.clients.tenant_client import TENANT_TOPIC
from ottla.simulation.history.history import History
from ottla.simulation.history.tenant_events import TenantSaw


class NothingCrossesTenants:
    """A client of a tenant sees only what clients of the same tenant have made, under the names
    that they gave it, whatever nodes, controllers and coordinators fail."""

    def check(self, history: History) -> Iterator[str]:
        for saw in history.of(TenantSaw):
            for name in saw.names:
                if name != TENANT_TOPIC:
                    yield f"{saw.who} of {saw.tenant} saw {name!r}"
            for writer in saw.writers:
                if writer != saw.tenant:
                    yield f"{saw.who} of {saw.tenant} read a record of {writer}"
