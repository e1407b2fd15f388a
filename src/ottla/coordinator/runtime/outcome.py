"""The result of an operation on a coordinator's state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from ottla.model import ErrorCode
from ottla.wire.records import GrowingBatch
from ottla.wire.schema import Message


class CoordinatorRecord(NamedTuple):
    """A record of an internal topic. A value of None is a tombstone."""

    key: Message
    value: Message | None
    value_version: int = 0


# Called with NONE once the records are committed, or with an error. The returned outcome is carried
# out as well.
OnCommitted: TypeAlias = "Callable[[ErrorCode], Outcome]"


class EncodedRecords(NamedTuple):
    """Many records, already encoded in steps. `apply` applies them to the state; it is called when
    they are appended."""

    batch: GrowingBatch
    apply: Callable[[], object]


class Outcome(NamedTuple):
    """Records to append, and the response (or a part of it) to send when they are committed.

    `is_applied`: the state already contains the records, so they are not applied again.
    `afterwards`: like `on_committed`, but called after the response is sent, or with the error if
    the append fails. `encoded`: replaces `records` in operations that are not requests.
    """

    records: Sequence[CoordinatorRecord] = ()
    response: object | None = None
    is_applied: bool = False
    on_committed: OnCommitted | None = None
    afterwards: OnCommitted | None = None
    encoded: EncodedRecords | None = None

    @property
    def is_empty(self) -> bool:
        return not self.records


NOTHING: Final = Outcome()
