"""A member of a share group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ottla.assignors.assignor import NO_PARTITIONS, Assignment

LEAVE_EPOCH: Final = -1


@dataclass(frozen=True, slots=True)
class ShareMember:
    """An immutable value; a change creates a new one. Partitions need no revocation, because
    members share them."""

    id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    epoch: int = 0
    previous_epoch: int = -1
    assigned: Assignment = NO_PARTITIONS
