"""The interface of a coordinator's state, and the timers that its shard provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

from ottla.coordinator.runtime.outcome import Outcome
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.wire.stored.coordinator_records import CoordinatorRecords

TimedOperation: TypeAlias = Callable[[], Outcome]


class StateMachine(Protocol):
    """The state for one partition. Owned by its shard, which calls it from one thread."""

    record_types: ClassVar[CoordinatorRecords]

    def replay(self, key: Message, value: Message | None, *, offset: int, producer_id: int) -> None:
        """Applies a record that was read from the log or just appended to it."""

    def replay_end_transaction(self, producer_id: int, *, is_committed: bool) -> None: ...

    def loaded(self) -> None:
        """The whole log is applied; requests follow."""

    def unloaded(self) -> None:
        """No more requests follow. Requests that still wait must be answered with an error."""


class Timers(Protocol):
    """Delayed operations by key; a new operation replaces the one with the same key."""

    def schedule(self, key: object, *, delay_ms: float, operation: TimedOperation) -> None: ...

    def schedule_if_absent(
        self, key: object, *, delay_ms: float, operation: TimedOperation
    ) -> None: ...

    def cancel(self, key: object) -> None: ...
