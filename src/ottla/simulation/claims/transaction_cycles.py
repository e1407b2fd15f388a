"""Whether the transactions that were committed have an order at all.

Transactions interleave: each of two may have a record before one of the other's, as nobody holds a
lock on a partition. So that one record is before another says nothing. But where a transaction was
committed before something happened that another is made of, it was decided on before the other was,
however many lie between. Whoever follows such dependencies never comes back to where they began.
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

_TOLD: Final = "told of the commit, event"


class NoCycleBetweenTransactions:
    """No committed transaction depends on itself: by what it wrote after another's marker, by where
    it went on with the input, and by having begun when another's producer knew of its commit."""

    def check(self, history: History) -> Iterator[str]:
        order = _Order()
        for partition, rows in logs_of(history).items():
            _add_writes(order, str(partition), rows)
        _add_reads(order, history)
        _add_real_time(order, history)
        if cycle := order.cycle():
            yield f"transactions depend on each other: {' -> '.join(map(str, cycle))}"


class _Moment(NamedTuple):
    """At which a transaction was known to be committed, as were all of this place before."""

    place: str
    number: int

    def __str__(self) -> str:
        return f"({self.place} {self.number})"


# A transaction, by its name, or a moment between transactions.
_Step = str | _Moment


class _Order:
    """What comes before what."""

    def __init__(self) -> None:
        # In the order in which they were told, for a seed to say the same each time.
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
        """A part of this transaction, after whatever is known at this place."""
        if place in self._last:
            self._before[transaction][self._last[place]] = None

    def cycle(self) -> Sequence[_Step]:
        """From a transaction to itself, if there is one."""
        try:
            TopologicalSorter(self._before).prepare()
        except CycleError as error:
            steps: list[_Step] = error.args[1][1:]
            first = next(index for index, step in enumerate(steps) if isinstance(step, str))
            around = [*steps[first:], *steps[: first + 1]]
            return [step for step, then in pairwise([*around, ""]) if not _is_later(step, then)]
        return ()


def _is_later(step: _Step, then: _Step) -> bool:
    """Whether what follows is a later moment at the same place, which says all."""
    return isinstance(step, _Moment) and isinstance(then, _Moment) and step.place == then.place


def _add_writes(order: _Order, place: str, rows: tuple[LoggedRow, ...]) -> None:
    """What was written after a marker is of a later transaction than what the marker commits."""
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
    """Whoever goes on where a group is has read what another transaction has committed."""
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
    """What begins after a producer was told of its commit is later."""
    for number, (_, event) in enumerate(history.events):
        match event:
            case TransactionEnded() if event.commits:
                order.is_committed([event.name], _Moment(_TOLD, number))
            case TransactionBegun():
                order.happens(event.name, _TOLD)
