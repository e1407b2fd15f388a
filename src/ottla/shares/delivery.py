"""What a member asks for and gets, and what it acknowledges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class BatchOffsets(NamedTuple):
    """The offsets of a record batch in the log."""

    first: int
    last: int


class Acquired(NamedTuple):
    first: int
    last: int
    delivery_count: int


class AcknowledgedOffsets(NamedTuple):
    """Offsets with their acknowledgement types: one for each, or one for all. Without `delay_ms`,
    released records wait as the group's configs say."""

    first: int
    last: int
    types: Sequence[int]
    delay_ms: int | None = None


class Wish(NamedTuple):
    """What a fetch of a member asks for."""

    member_id: str
    records_max: int
    # Results are split where a batch of the log begins, if they have at least so many records.
    batch_size: int = 500
    # Never more than `records_max`; otherwise whole batches of the log are acquired.
    is_strict: bool = False


class TakeOrder(Protocol):
    """Decides which records a member may take (key_order.py)."""

    def may_take(self, offset: int, member_id: str) -> bool: ...

    def taken(self, offset: int, member_id: str) -> None: ...
