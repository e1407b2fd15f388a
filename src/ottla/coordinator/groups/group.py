"""The common interface of all group types, used for offsets and admin requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum

from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.model import ErrorCode, KafkaError

NO_MEMBER_ID = ""


class GroupType(Enum):
    """The values are the names in ListGroups."""

    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    SHARE = "Share"


class Group(ABC):
    """Owned by the coordinator's `Groups`."""

    __slots__ = ("id",)

    type: GroupType

    def __init__(self, group_id: str) -> None:
        self.id = group_id

    @property
    @abstractmethod
    def state_name(self) -> str:
        """The state's name in Kafka's tools."""

    @property
    @abstractmethod
    def protocol_type(self) -> str:
        """The members' protocol type; empty for a group that only commits offsets."""

    @property
    @abstractmethod
    def is_empty(self) -> bool: ...

    @abstractmethod
    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member may be consuming the topic, so that its offsets are in use."""

    @abstractmethod
    def require_may_commit(
        self, *, member_id: str, instance_id: str | None, epoch: int, version: int | None
    ) -> None:
        """Raises if a member with this epoch (or generation) may not commit offsets. `version` is
        that of OffsetCommit, or None within a transaction."""

    @abstractmethod
    def require_may_fetch(self, *, member_id: str | None, epoch: int) -> None: ...

    @abstractmethod
    def require_may_delete_offsets(self) -> None: ...

    @abstractmethod
    def offset_idle_since(self, committed: CommittedOffset) -> int | None:
        """When the offset's retention started; None while it cannot expire."""

    @property
    def expires(self) -> bool:
        """Whether the group is removed when it has neither members nor offsets."""
        return True

    def topics_changed(self) -> None:  # noqa: B027 - only some types care
        """Topics, partitions or ACLs may have changed."""

    @abstractmethod
    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """The tombstones that remove the group itself from the log."""

    def require_may_delete(self) -> None:
        if not self.is_empty:
            raise KafkaError(
                ErrorCode.NON_EMPTY_GROUP, f"group {self.id} has members; stop them first"
            )
