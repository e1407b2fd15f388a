"""What transactions are held against: each claim holds where nothing went wrong, and not else."""

from collections.abc import Sequence

import pytest

from ottla.model import TopicPartition
from ottla.simulation.claims.claims import violations
from ottla.simulation.history.history import Acknowledged, Event, History, Sent
from ottla.simulation.history.transaction_events import (
    Decision,
    DecisionsLogged,
    GroupLogHas,
    LoggedRow,
    OffsetTaken,
    ProducerInitialized,
    TransactionalLogHas,
    TransactionalRead,
    TransactionBegun,
    TransactionEnded,
    TransactionEnding,
)

INPUT, COPIES = TopicPartition("input", 0), TopicPartition("copies", 0)
VALUE = b"copier/1|0:4"
BEGUN = (
    ProducerInitialized("copier", "id", 7, 0),
    TransactionBegun("copier", "copier/1", "id", 7, 0),
    Sent("copier", COPIES, VALUE),
    Acknowledged("copier", COPIES, VALUE, 0),
    OffsetTaken("copier", "copier/1", INPUT, 5),
)
COMMITTED = (
    TransactionEnding("copier", "copier/1", commits=True),
    TransactionEnded("copier", "copier/1", commits=True),
)
READ = TransactionalRead("reader", COPIES, 0, VALUE, is_committed=True)
LOGGED = TransactionalLogHas(
    "node-1", COPIES, (LoggedRow(0, 7, 0, "", VALUE), LoggedRow(1, 7, 1, "COMMIT", b""))
)
DECIDED = DecisionsLogged("world", (Decision(7, 1, "COMMIT"),))
IN_GROUP = GroupLogHas("world", "copiers", ((INPUT, 5),))


def claims_violated(events: Sequence[Event]) -> set[str]:
    history = History()
    for at, event in enumerate(events):
        history.add(float(at), event)
    return {violation.claim for violation in violations(history)}


def test_a_sound_history_violates_nothing() -> None:
    assert claims_violated((*BEGUN, *COMMITTED, READ, LOGGED, DECIDED, IN_GROUP)) == set()


@pytest.mark.parametrize(
    ("claim", "events"),
    [
        ("NoReadBeforeItsCommit", (*BEGUN, READ, *COMMITTED, LOGGED)),
        ("MarkersFollowDecisions", (*BEGUN, *COMMITTED, LOGGED, DecisionsLogged("world", ()))),
        (
            "MarkersFollowDecisions",
            (*BEGUN, *COMMITTED, LOGGED, DecisionsLogged("world", (Decision(7, 1, "ABORT"),))),
        ),
        (
            "NoOffsetOfATransactionLost",
            (*BEGUN, *COMMITTED, LOGGED, GroupLogHas("world", "copiers", ())),
        ),
    ],
)
def test_what_is_wrong_is_found(claim: str, events: Sequence[Event]) -> None:
    assert claims_violated(events) == {claim}


def test_what_was_not_committed_need_not_be_in_the_groups_log() -> None:
    assert claims_violated((*BEGUN, GroupLogHas("world", "copiers", ()))) == set()
