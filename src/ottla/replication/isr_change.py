"""A change of the ISR that a leader proposes to the controller (KIP-497).

    committed ──propose──▶ pending ──committed by the controller──▶ committed
                              │──refused and certainly not applied──▶ committed, as before
                              └──any newer metadata──▶ committed

While a change is pending, the leader uses the union of both sets, the maximal ISR. The controller
may elect a leader from either set, so every replica of both must have all acknowledged records.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, NamedTuple, Protocol

from ottla.model import ErrorCode, TopicPartition, Uuid


class InSyncReplica(NamedTuple):
    """A replica and the broker epoch with which it is in sync (KIP-903). The epoch is -1 if the
    broker has not fetched from this leader yet."""

    id: int
    broker_epoch: int


class IsrChange(NamedTuple):
    """A proposed ISR, with the leader's epochs: the controller rejects it if they are outdated."""

    topic_id: Uuid
    partition: int
    leader_epoch: int
    partition_epoch: int
    new_isr: tuple[InSyncReplica, ...]


class CommittedIsr(NamedTuple):
    """The controller's response to a change."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


class ProposingPartition(Protocol):
    """A partition that proposes changes and is called back with the result of each."""

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
    """Sends changes to the controller."""

    def propose(self, partition: ProposingPartition, change: IsrChange) -> None:
        """Returns at once. The partition's `isr_change_committed` or `isr_change_refused` is
        called later with the same change, unless a newer one has replaced it."""


class IsrRefusal(Enum):
    """What the leader does after a refused change."""

    # The change was certainly not applied: the committed ISR is unchanged.
    FORGET = auto()
    # The leader's metadata is outdated; newer metadata will arrive.
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
