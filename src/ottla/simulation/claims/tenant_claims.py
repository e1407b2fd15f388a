"""The properties of tenants that every history must have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ottla.simulation.clients.tenant_client import EXTRA_TOPICS, TENANT_TOPIC
from ottla.simulation.history.history import History
from ottla.simulation.history.tenant_events import TenantSaw, UserTopicsSeen

# Of each tenant in a run.
TENANT_TOPICS_MAX: Final = 3


class NothingCrossesTenants:
    """A client of a tenant sees only what clients of the same tenant have made, under the names
    that they gave it, whatever nodes, controllers and coordinators fail."""

    def check(self, history: History) -> Iterator[str]:
        for saw in history.of(TenantSaw):
            for name in saw.names:
                if name not in (TENANT_TOPIC, *EXTRA_TOPICS):
                    yield f"{saw.who} of {saw.tenant} saw {name!r}"
            for writer in saw.writers:
                if writer != saw.tenant:
                    yield f"{saw.who} of {saw.tenant} read a record of {writer}"


class LimitsHold:
    """A tenant never has more topics than its limit, and a user no more than its own, whichever
    controller counts them."""

    def check(self, history: History) -> Iterator[str]:
        for saw in history.of(TenantSaw):
            if len(saw.names) > TENANT_TOPICS_MAX:
                yield f"{saw.tenant} had {len(saw.names)} topics and may have {TENANT_TOPICS_MAX}"
        for seen in history.of(UserTopicsSeen):
            if seen.count > seen.limit:
                yield f"{seen.who} saw {seen.count} topics of a user that may have {seen.limit}"
