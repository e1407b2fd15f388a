"""A change of in-sync replicas that a leader asks the controller for (KIP-497).

    committed ──propose──▶ pending ──committed by the controller──▶ committed
                              │──refused and surely not applied──▶ committed, as before
                              └──any newer metadata──▶ committed

While a change is pending the leader counts on the larger of both sets, the maximal ISR: whichever
of them the controller elects from, it has everything that was acknowledged.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, NamedTuple, Protocol

from ottla.model import ErrorCode, TopicPartition, Uuid


class InSyncReplica(NamedTuple):
    """A replica, and the incarnation of its broker that is in sync (KIP-903). An epoch of -1 is
    that of a broker that has not fetched from this leader yet."""

    id: int
    broker_epoch: int


class IsrChange(NamedTuple):
    """What is proposed, and what the leader knew when it did: the controller refuses otherwise."""

    topic_id: Uuid
    partition: int
    leader_epoch: int
    partition_epoch: int
    new_isr: tuple[InSyncReplica, ...]


class CommittedIsr(NamedTuple):
    """What the controller answered to a change."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


class ProposingPartition(Protocol):
    """A partition whose leader proposes changes, and is called back about each."""

    @property
    def name(self) -> TopicPartition: ...

    @property
    def topic_id(self) -> Uuid: ...

    @property
    def leader_epoch(self) -> int: ...

    @property
    def partition_epoch(self) -> int: ...

    def isr_change_committed(self, change: IsrChange, committed: CommittedIsr) -> None: ...

    def isr_change_refused(self, change: IsrChange, error: int) -> None: ...


class IsrChanges(Protocol):
    """Brings changes to the controller."""

    def propose(self, partition: ProposingPartition, change: IsrChange) -> None:
        """Returns at once. Later calls the partition's `isr_change_committed` or
        `isr_change_refused` with the same change, unless a newer one has replaced it."""


class IsrRefusal(Enum):
    """What a refused change leaves to do."""

    # The controller says that the partition is as the leader knew it.
    FORGET = auto()
    # The metadata has moved on, and will say so.
    WAIT_FOR_METADATA = auto()
    RETRY = auto()


_NOT_APPLIED: Final = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
_MOVED_ON: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NEW_LEADER_ELECTED,
    }
)


def refusal_of(error: int) -> IsrRefusal:
    if error in _NOT_APPLIED:
        return IsrRefusal.FORGET
    return IsrRefusal.WAIT_FOR_METADATA if error in _MOVED_ON else IsrRefusal.RETRY
