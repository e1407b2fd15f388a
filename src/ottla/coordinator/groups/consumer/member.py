"""A member of a group of the consumer protocol.

Stable ──a new target takes partitions away──▶ UnrevokedPartitions
  ▲  │                                              │ it has revoked them
  │  └──partitions of the target are still owned──▶ UnreleasedPartitions
  └──────────all partitions of the target are assigned────┘
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from ottla.assignors.assignor import NO_PARTITIONS, Assignment
from ottla.wire.stored.consumer_groups import ClassicMemberMetadata

# The member epochs of a leave request. With the second, a static member keeps its partitions until
# it returns or its session expires.
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2


class MemberState(IntEnum):
    """Numbered as in the log."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """An immutable value; a change creates a new one."""

    id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] = frozenset()
    regex: str | None = None
    assignor: str | None = None
    # Set while the member uses the classic protocol.
    classic: ClassicMemberMetadata | None = None
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: Assignment = NO_PARTITIONS
    pending_revocation: Assignment = NO_PARTITIONS

    @property
    def owned(self) -> Assignment:
        """The partitions that must not be assigned to another member."""
        return self.assigned | self.pending_revocation

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == target_epoch


def member_before(known: ConsumerMember | None, member_id: str) -> ConsumerMember:
    """The member before a request. A returning static instance starts at epoch 0."""
    if known is None:
        return ConsumerMember(member_id)
    if known.id == member_id and known.epoch >= 0:
        return known
    return replace(known, id=member_id, epoch=0, previous_epoch=0)
