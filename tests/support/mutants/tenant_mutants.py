"""Bugs in the walls between tenants and in their limits, planted one at a time."""

from __future__ import annotations

from functools import partial
from typing import Any, Final
from unittest.mock import patch

from ottla.broker.control.tenancy import Tenancy, TenantNames
from ottla.broker.network.tenant_door import TenantDoor
from ottla.controller.operations.owner_limits import OwnedTopics
from ottla.security.principal import Principal
from ottla.simulation.claims.tenant_claims import LimitsHold, NothingCrossesTenants
from ottla.tenancy.translation import OutwardNames
from tests.support.mutants.planting import Mutant, replacing


def _names_of_the_first(tenancy: Tenancy, _listener: str, _principal: Principal) -> TenantNames:
    """Every client is taken for one of the same tenant."""
    return TenantNames(tenancy.tenants[min(tenancy.tenants)], tenancy._topic_name, tenancy._mask)


def _shows_everything(_self: OutwardNames, name: str) -> str:
    """Names of others are shown as they are."""
    return name


def _translates_no_responses(_self: TenantDoor, response: Any, _version: int) -> Any:
    return response


def _counts_nothing(_self: OwnedTopics, owned: Any, _has: Any) -> Any:
    return owned


TENANT_MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        "takes every client for one tenant's",
        replacing(Tenancy, "names_for", _names_of_the_first),
        1,
        NothingCrossesTenants,
        has_tenants=True,
    ),
    Mutant(
        "names of others are shown",
        replacing(OutwardNames, "topic", _shows_everything),
        1,
        NothingCrossesTenants,
        has_tenants=True,
    ),
    Mutant(
        "only the topics of the request count for limits",
        replacing(OwnedTopics, "_counted", _counts_nothing),
        1,
        LimitsHold,
        has_tenants=True,
    ),
    Mutant(
        "the owners of topics are forgotten",
        partial(patch, "ottla.metadata.replay.topics.owner_of", lambda _record: ""),
        1,
        LimitsHold,
        has_tenants=True,
    ),
    Mutant(
        "responses are not translated",
        replacing(TenantDoor, "leave", _translates_no_responses),
        1,
        NothingCrossesTenants,
        has_tenants=True,
    ),
)
