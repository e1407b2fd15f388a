"""Checks that the committed transactions can be ordered.

Transactions interleave: partitions are not locked, so each of two transactions may have a record
before one of the other's, and the order of records alone proves nothing. But a transaction precedes
another if it was committed before something that the other depends on. This also holds across
several steps, so these dependencies must not form a cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final, NamedTuple

from ottla.simulation.claims.transaction_fates import (
    COMMITTED,
    ends_of,
    fates_of,
    logs_of,
    source_of,
    transaction_of,
)
from ottla.simulation.history.history import History
from ottla.simulation.history.transaction_events import (
    LoggedRow,
    TransactionBegun,
    TransactionEnded,
)

_COMMIT_RESPONSE: Final = "commit response received, event"


class NoCycleBetweenTransactions:
    """No committed transaction depends on itself. A transaction depends on another if it wrote
    after the other's commit marker, continued with the input after the other, or began after the
    other's producer received the commit response.
    """

    def check(self, history: History) -> Iterator[str]:
        order = _Order()
        for partition, rows in logs_of(history).items():
            _add_writes(order, str(partition), rows)
        _add_reads(order, history)
        _add_real_time(order, history)
        if cycle := order.cycle():
            yield f"transactions depend on each other: {' -> '.join(map(str, cycle))}"


class _Moment(NamedTuple):
    """A point at one place (a log or the event history) where transactions became committed. Each
    moment depends on all earlier ones at its place.
    """

    place: str
    number: int

    def __str__(self) -> str:
        return f"({self.place} {self.number})"


# A transaction, by name, or a moment between transactions.
_Step = str | _Moment


class _Order:
    """The dependencies between transactions and moments."""

    def __init__(self) -> None:
        # In insertion order, so that a seed always gives the same message.
        self._before: dict[_Step, dict[_Step, None]] = defaultdict(dict)
        self._last: dict[str, _Moment] = {}

    def add(self, earlier: str, later: str) -> None:
        self._before[later][earlier] = None

    def is_committed(self, transactions: Sequence[str], moment: _Moment) -> None:
        self._before[moment].update(dict.fromkeys(transactions))
        if moment.place in self._last:
            self._before[moment][self._last[moment.place]] = None
        self._last[moment.place] = moment

    def happens(self, transaction: str, place: str) -> None:
        """Makes a transaction depend on the last moment at this place."""
        if place in self._last:
            self._before[transaction][self._last[place]] = None

    def cycle(self) -> Sequence[_Step]:
        """A cycle, from a transaction back to itself, or an empty sequence."""
        try:
            TopologicalSorter(self._before).prepare()
        except CycleError as error:
            steps: list[_Step] = error.args[1][1:]
            first = next(index for index, step in enumerate(steps) if isinstance(step, str))
            around = [*steps[first:], *steps[: first + 1]]
            return [step for step, then in pairwise([*around, ""]) if not _is_later(step, then)]
        return ()


def _is_later(step: _Step, then: _Step) -> bool:
    """Whether the next step is a moment at the same place; then this one can be omitted."""
    return isinstance(step, _Moment) and isinstance(then, _Moment) and step.place == then.place


def _add_writes(order: _Order, place: str, rows: tuple[LoggedRow, ...]) -> None:
    """Records written after a commit marker depend on the transaction that it commits."""
    ends = ends_of(rows)
    under_way: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        if row.marker:
            order.is_committed(under_way.pop(row.producer_id, ()), _Moment(place, row.offset))
        elif ends[row.offset] == COMMITTED:
            name = transaction_of(row.value)
            order.happens(name, place)
            under_way[row.producer_id].append(name)


def _add_reads(order: _Order, history: History) -> None:
    """A transaction depends on the one that committed the input offset at which it resumed."""
    copies: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for fates in fates_of(history).values():
        for value, fate in fates.items():
            if fate.end == COMMITTED:
                source, offset = source_of(value)
                copies[source].append((offset, transaction_of(value)))
    for found in copies.values():
        found.sort()
        for (_, earlier), (_, later) in pairwise(found):
            if earlier != later:
                order.add(earlier, later)


def _add_real_time(order: _Order, history: History) -> None:
    """A transaction that begins after another's commit response depends on the other."""
    for number, (_, event) in enumerate(history.events):
        match event:
            case TransactionEnded() if event.commits:
                order.is_committed([event.name], _Moment(_COMMIT_RESPONSE, number))
            case TransactionBegun():
                order.happens(event.name, _COMMIT_RESPONSE)
