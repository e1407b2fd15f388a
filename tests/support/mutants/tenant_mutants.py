"""Bugs in the walls between tenants, planted one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from ottla.broker.network.tenant_door import TenantDoor
from ottla.security.acls.rights import Rights
from ottla.simulation.claims.tenant_claims import NothingCrossesTenants
from ottla.tenancy.translation import InwardNames, OutwardNames
from tests.support.mutants.planting import Mutant, replacing


@contextmanager
def _shares_topics() -> Iterator[None]:
    """All tenants get the same prefix, and the second wall, which confines them to their own, is
    not there."""

    def prefixed(_self: InwardNames, name: str) -> str:
        return f"acme.{name}" if name else name

    with (
        patch.object(InwardNames, "topic", prefixed),
        patch.object(Rights, "confined", lambda rights, _prefix: rights),
    ):
        yield


def _shows_everything(_self: OutwardNames, name: str) -> str:
    """Names of others are shown as they are."""
    return name


def _translates_no_responses(_self: TenantDoor, response: Any, _version: int) -> Any:
    return response


TENANT_MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        "tenants share their topics",
        _shares_topics,
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
