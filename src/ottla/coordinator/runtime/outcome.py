"""What an operation on a coordinator's state decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from ottla.model import ErrorCode
from ottla.wire.records import GrowingBatch
from ottla.wire.schema import Message, Struct


class CoordinatorRecord(NamedTuple):
    """A record of an internal topic. Without a value it removes what the key names."""

    key: Message
    value: Message | None
    value_version: int = 0


# What becomes of records: NONE once they are committed. What follows from it is carried out too.
OnCommitted: TypeAlias = "Callable[[ErrorCode], Outcome]"


class EncodedRecords(NamedTuple):
    """So many records that they were encoded in steps before. `apply` shows them in the state, and
    is called once they are appended."""

    batch: GrowingBatch
    apply: Callable[[], object]


class Outcome(NamedTuple):
    """Records to append, and the response, or part of one, to give when they are committed.

    `is_applied` says that the state shows the records already, so that they are not applied to it.
    `afterwards` is the same as `on_committed`, but comes when the response has left, if the records
    were appended at all. `encoded` takes the place of `records`, in operations that are not
    requests.
    """

    records: Sequence[CoordinatorRecord] = ()
    response: Struct | None = None
    is_applied: bool = False
    on_committed: OnCommitted | None = None
    afterwards: OnCommitted | None = None
    encoded: EncodedRecords | None = None

    @property
    def is_empty(self) -> bool:
        return not self.records


NOTHING: Final = Outcome()
