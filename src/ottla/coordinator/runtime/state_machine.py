"""What a coordinator's state has to be able to do, and what it may ask of whoever runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

from ottla.coordinator.runtime.outcome import Outcome
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.wire.stored.coordinator_records import CoordinatorRecords

TimedOperation: TypeAlias = Callable[[], Outcome]


class StateMachine(Protocol):
    """The state of one partition. Owned by its shard, which calls it from one thread."""

    record_types: ClassVar[CoordinatorRecords]

    def replay(self, key: Message, value: Message | None, *, offset: int, producer_id: int) -> None:
        """Applies a record: one from the log, or one that was just appended to it."""

    def replay_end_transaction(self, producer_id: int, *, is_committed: bool) -> None: ...

    def loaded(self) -> None:
        """All of the log is applied; from now on there are requests."""

    def unloaded(self) -> None:
        """There are no more requests. Whoever still waits for an answer is to be refused."""


class Timers(Protocol):
    """Operations that happen after a while, each under a name; a new one replaces the old one."""

    def schedule(self, key: object, *, delay_ms: float, operation: TimedOperation) -> None: ...

    def schedule_if_absent(
        self, key: object, *, delay_ms: float, operation: TimedOperation
    ) -> None: ...

    def cancel(self, key: object) -> None: ...
