"""Runs: ranges of offsets whose records have the same delivery state.

The runs of a share partition cover all offsets from its start offset to its end offset, without
gaps and without overlaps. Neighbors with equal states are one run, so the memory depends on the
number of different states, not on the number of records.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from ottla.shares.record_state import RecordState
from ottla.shares.state_batch import StateBatch

NO_MEMBER = ""


class Run:
    """Offsets with one state. `change` is set while a change to `target` is being stored; until
    then `state` is the earlier state, and nothing else happens to these records."""

    __slots__ = (
        "change",
        "delay_ms",
        "delivery_count",
        "due",
        "first",
        "last",
        "lock_ends",
        "member_id",
        "state",
        "target",
    )

    def __init__(
        self,
        first: int,
        last: int,
        state: RecordState,
        delivery_count: int = 0,
        *,
        member_id: str = NO_MEMBER,
        lock_ends: float = 0,
        due: float = 0,
    ) -> None:
        self.first = first
        self.last = last
        self.state = state
        self.delivery_count = delivery_count
        self.member_id = member_id
        # Times of the monotonic clock, in milliseconds: the end of the lock of acquired records,
        # and the end of the retry delay of available ones.
        self.lock_ends = lock_ends
        self.due = due
        self.change: Change | None = None
        self.target = state
        # With a change that releases the records: the retry delay, if the member chose one.
        self.delay_ms: int | None = None

    def __repr__(self) -> str:
        return f"Run({self.first}-{self.last} {self.state.name} x{self.delivery_count})"

    def __len__(self) -> int:
        return self.last - self.first + 1

    @property
    def is_free(self) -> bool:
        return self.state is RecordState.AVAILABLE and self.change is None

    @property
    def is_done(self) -> bool:
        return self.state.is_terminal and self.change is None

    def is_held_by(self, member_id: str) -> bool:
        return (
            self.state is RecordState.ACQUIRED
            and self.change is None
            and self.member_id == member_id
        )

    def joins(self, other: Run) -> bool:
        return (
            self.change is None
            and other.change is None
            and self.state is other.state
            and self.delivery_count == other.delivery_count
            and self.member_id == other.member_id
            and self.lock_ends == other.lock_ends
            and self.due == other.due
        )


class DeadCause(Enum):
    """Why a share group gave a record up."""

    REJECTED = "rejected"
    LIMIT = "limit"


class DeadRecords(NamedTuple):
    first: int
    last: int
    delivery_count: int
    cause: DeadCause


class Change:
    """A change of some runs that is being stored: first committed, then applied; or rolled
    back."""

    __slots__ = ("batches", "dead", "runs")

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.batches: list[StateBatch] = []
        # The records that the group gives up with this change.
        self.dead: list[DeadRecords] = []

    def add(self, run: Run, target: RecordState, cause: DeadCause | None = None) -> None:
        assert run.change is None
        if target is RecordState.ARCHIVED and cause is not None:
            self.dead.append(DeadRecords(run.first, run.last, run.delivery_count, cause))
        run.change, run.target = self, target
        self.runs.append(run)
        self.batches.append(StateBatch(run.first, run.last, target, run.delivery_count))


class Runs:
    """Owned by a share partition."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def between(self, first: int, last: int) -> list[Run]:
        """The runs that overlap these offsets."""
        low = self._index_of(first)
        high = low
        while high < len(self._runs) and self._runs[high].first <= last:
            high += 1
        return self._runs[low:high]

    def cut(self, first: int, last: int) -> list[Run]:
        """The runs that cover exactly these offsets; runs that reach beyond are split."""
        self._split(first)
        self._split(last + 1)
        return self.between(first, last)

    def append(self, run: Run) -> None:
        if self._runs:
            last = self._runs[-1]
            assert run.first == last.last + 1
            if last.joins(run):
                last.last = run.last
                return
        self._runs.append(run)

    def join(self, first: int, last: int) -> None:
        """Joins equal neighbors among and beside these offsets."""
        at = max(self._index_of(first - 1), 0)
        while at + 1 < len(self._runs) and self._runs[at].first <= last + 1:
            run, following = self._runs[at], self._runs[at + 1]
            if run.joins(following):
                run.last = following.last
                del self._runs[at + 1]
            else:
                at += 1

    def drop_before(self, offset: int) -> None:
        """Removes the offsets below."""
        self._split(offset)
        del self._runs[: self._index_of(offset)]

    def drop_done(self) -> int | None:
        """Removes the runs at the beginning whose records are done. Returns the next offset."""
        done = 0
        while done < len(self._runs) and self._runs[done].is_done:
            done += 1
        if not done:
            return None
        next_offset = self._runs[done - 1].last + 1
        del self._runs[:done]
        return next_offset

    def _index_of(self, offset: int) -> int:
        """The index of the run with this offset, or of the next one."""
        return bisect_left(self._runs, offset, key=_last_of)

    def _split(self, offset: int) -> None:
        at = self._index_of(offset)
        if at == len(self._runs) or self._runs[at].first >= offset:
            return
        run = self._runs[at]
        rest = Run(
            offset,
            run.last,
            run.state,
            run.delivery_count,
            member_id=run.member_id,
            lock_ends=run.lock_ends,
            due=run.due,
        )
        run.last = offset - 1
        if run.change is not None:
            rest.change, rest.target, rest.delay_ms = run.change, run.target, run.delay_ms
            run.change.runs.append(rest)
        self._runs.insert(at + 1, rest)


def _last_of(run: Run) -> int:
    return run.last
