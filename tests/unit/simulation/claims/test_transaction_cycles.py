"""Transactions may interleave, and may not depend on each other in a circle."""

from collections.abc import Sequence

import pytest

from ottla.model import TopicPartition
from ottla.simulation.claims.transaction_cycles import NoCycleBetweenTransactions
from ottla.simulation.history.history import Event, History
from ottla.simulation.history.transaction_events import (
    LoggedRow,
    TransactionalLogHas,
    TransactionBegun,
    TransactionEnded,
)

PRODUCERS = {"one": 1, "two": 2, "six": 6}


def log(number: int, rows: str) -> TransactionalLogHas:
    """`one|0:4` is what transaction one wrote of that input, `one.` and `one!` are its commit and
    its abort."""
    found = []
    for offset, text in enumerate(rows.split()):
        producer = PRODUCERS[text[:3]]
        marker = {".": "COMMIT", "!": "ABORT"}.get(text[3:], "")
        value = b"" if marker else text.encode()
        found.append(LoggedRow(offset, producer, 0, marker, value))
    return TransactionalLogHas("node-1", TopicPartition("copies", number), tuple(found))


def begun(name: str) -> TransactionBegun:
    return TransactionBegun(name, name, name, PRODUCERS[name], 0)


def ended(name: str) -> TransactionEnded:
    return TransactionEnded(name, name, commits=True)


def found(*events: Event) -> list[str]:
    history = History()
    for at, event in enumerate(events):
        history.add(float(at), event)
    return list(NoCycleBetweenTransactions().check(history))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            (
                begun("one"),
                begun("two"),
                log(0, "one|0:0 two|1:0 one. two."),
                log(1, "two|1:1 one|0:1 two. one."),
                ended("one"),
                ended("two"),
            ),
            id="each is before the other somewhere, and neither is committed there yet",
        ),
        pytest.param(
            (log(0, "one|0:0 one! two|1:0 two."), log(1, "two|1:1 two. one|0:1 one!")),
            id="one is aborted",
        ),
        pytest.param(
            (begun("one"), ended("one"), begun("two"), log(0, "one|0:0 one. two|0:1 two.")),
            id="one goes on where the other ended",
        ),
        pytest.param(
            (log(0, "one|0:0 one. one. two|1:0 two."), log(1, "two|1:1 one|0:1 two. one.")),
            id="a marker came twice",
        ),
    ],
)
def test_there_is_an_order(events: Sequence[Event]) -> None:
    assert found(*events) == []


@pytest.mark.parametrize(
    ("events", "cycle"),
    [
        pytest.param(
            (log(0, "one|0:0 one. two|1:0 two."), log(1, "two|1:1 two. one|0:1 one.")),
            {"one", "two"},
            id="each has written after the other's commit",
        ),
        pytest.param(
            (
                log(0, "one|0:0 one. two|1:0 two."),
                log(1, "two|1:1 two. six|2:0 six."),
                log(2, "six|2:1 six. one|0:1 one."),
            ),
            {"one", "two", "six"},
            id="there is another between",
        ),
        pytest.param(
            (log(0, "one|0:1 one. two|0:0 two."),),
            {"one", "two"},
            id="one went on where the other had not ended yet",
        ),
        pytest.param(
            (begun("two"), ended("two"), begun("one"), log(0, "one|0:0 one. two|1:0 two.")),
            {"one", "two"},
            id="one began when the other's commit was known",
        ),
        pytest.param(
            (log(0, "one|0:0 one. one|0:1 one."),), {"one"}, id="one goes on after its own end"
        ),
    ],
)
def test_a_cycle_is_found(events: Sequence[Event], cycle: set[str]) -> None:
    (text,) = found(*events)
    assert {name for name in PRODUCERS if name in text} == cycle


def test_of_a_place_only_the_last_moment_is_printed() -> None:
    (text,) = found(log(0, "one|0:0 one. two|1:0 two! six|2:0 six! one|0:1 one."))
    assert text == "transactions depend on each other: one -> (copies-0 5) -> one"
