"""Bugs in the walls between tenants, planted one at a time."""

from __future__ import annotations

from typing import Any, Final

from ottla.broker.network.tenant_door import TenantDoor
from ottla.simulation.claims.tenant_claims import NothingCrossesTenants
from ottla.tenancy.translation import InwardNames, OutwardNames
from tests.support.mutants.planting import Mutant, replacing


def _shares_topics(_self: InwardNames, name: str) -> str:
    """All tenants get the same prefix."""
    return f"acme.{name}" if name else name


def _shows_everything(_self: OutwardNames, name: str) -> str:
    """Names of others are shown as they are."""
    return name


def _translates_no_responses(_self: TenantDoor, response: Any, _version: int) -> Any:
    return response


TENANT_MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        "tenants share their topics",
        replacing(InwardNames, "topic", _shares_topics),
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
        "responses are not translated",
        replacing(TenantDoor, "leave", _translates_no_responses),
        1,
        NothingCrossesTenants,
        has_tenants=True,
    ),
)
