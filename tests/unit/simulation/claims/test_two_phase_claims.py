"""Each claim about queries holds for a sound history, and for no other."""

from collections.abc import Sequence

import pytest

from ottla.model import TopicPartition
from ottla.simulation.claims.two_phase_claims import TWO_PHASE_CLAIMS
from ottla.simulation.clients.two_phase_client import all_rows_of
from ottla.simulation.history.history import Event, Healed, History
from ottla.simulation.history.transaction_events import LoggedRow
from ottla.simulation.history.two_phase_events import (
    BatchCommitted,
    DecisionRead,
    DecisionSending,
    DecisionWritten,
    DriverBegan,
    DriverBeginning,
    OutputHas,
)

P = TopicPartition("sunk", 0)
ROWS = (*all_rows_of("q", 0), *all_rows_of("q", 1))


def begun(number: int) -> tuple[Event, ...]:
    return DriverBeginning("driver", "q", number), DriverBegan("driver", "q", number)


def decided(number: int, batch_id: int) -> tuple[Event, ...]:
    return (
        DecisionSending("driver", "q", batch_id, number),
        DecisionWritten("driver", "q", batch_id, number),
    )


def output(rows: Sequence[str], *, marker: str = "COMMIT") -> OutputHas:
    logged = [LoggedRow(at, 7, 0, "", f"attempt|{row}".encode()) for at, row in enumerate(rows)]
    return OutputHas("node-1", P, (*logged, LoggedRow(len(rows), 7, 0, marker, b"")))


SOUND = (
    *begun(1),
    DecisionRead("driver", "q", -1, -1),
    *decided(1, 0),
    BatchCommitted("driver", "q", 0),
    *begun(2),
    DecisionRead("driver", "q", 0, 0),
    *decided(2, 1),
    BatchCommitted("driver", "q", 1),
    Healed("world"),
)


def violated(events: Sequence[Event]) -> set[str]:
    history = History()
    for at, event in enumerate(events):
        history.add(float(at), event)
    return {type(claim).__name__ for claim in TWO_PHASE_CLAIMS if any(claim.check(history))}


def test_there_are_rows() -> None:
    assert len(ROWS) > 3


def test_a_sound_history_violates_nothing() -> None:
    assert violated((*SOUND, output(ROWS))) == set()


def test_a_history_without_its_output_says_nothing_about_rows() -> None:
    assert violated(SOUND) == set()


@pytest.mark.parametrize(
    ("events", "claim"),
    [
        ((*SOUND, output((*ROWS, ROWS[-1]))), "EachBatchIsWrittenOnce"),
        ((*SOUND, output((*all_rows_of("q", 1), *all_rows_of("q", 0)))), "EachBatchIsWrittenOnce"),
        ((*SOUND, output((*ROWS, "q:2:0:0"))), "EachBatchIsWrittenOnce"),
        ((*SOUND, output(ROWS[:-1])), "NoDecidedBatchIsLost"),
        ((*SOUND, output(ROWS, marker="ABORT")), "NoDecidedBatchIsLost"),
        ((DecisionRead("driver", "q", 0, 1),), "NoDecidedBatchIsLost"),
        ((*begun(1), *begun(2), *decided(1, 0)), "NoZombieDriverCommits"),
    ],
)
def test_each_claim_finds_its_violation(events: Sequence[Event], claim: str) -> None:
    assert claim in violated(events)


def test_a_driver_whose_decision_was_on_its_way_is_no_zombie() -> None:
    sending, written = decided(1, 0)
    assert violated((*begun(1), sending, *begun(2), written)) == set()


def test_a_driver_that_began_again_is_no_zombie() -> None:
    assert violated((*begun(1), *begun(2), *begun(3), *decided(3, 0))) == set()


def test_drivers_that_begin_at_the_same_time_may_be_in_either_order() -> None:
    (one_asks, one_began), (two_asks, two_began) = begun(1), begun(2)
    events = (one_asks, two_asks, two_began, one_began, *decided(1, 0))
    assert violated(events) == set()
