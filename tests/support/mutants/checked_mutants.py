"""Bugs in how bad batches are set aside, planted one at a time."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any, Final
from unittest.mock import patch

from ottla.broker.producing import appending
from ottla.broker.producing.setting_aside import set_aside_of
from ottla.broker.validation.letters import LetterPlace
from ottla.broker.validation.set_asides import SetAsides
from ottla.model import ProducerId
from ottla.model.ids import ONE_TIME_PRODUCER_ID_MIN
from ottla.simulation.claims.checked_claims import SetAsideExactlyOnce
from tests.support.mutants.planting import FAULTS_OF_COORDINATORS, Mutant

_numbers = count()


def _another_id(_self: LetterPlace) -> ProducerId:
    """A letter that is written again has another identity."""
    return ProducerId(ONE_TIME_PRODUCER_ID_MIN + next(_numbers))


def _takes_duplicates_for_done(validations: Any, partition: Any, known: Any, result: Any) -> Any:
    """A duplicate of a place is acknowledged without its letter."""
    if result.is_duplicate:
        return None
    return set_aside_of(validations, partition, known, result)


def _acknowledges_first(
    self: SetAsides, partition: Any, batch: Any, result: Any, written: Any
) -> None:
    """The batch is acknowledged before its letter is written."""
    del self, partition, batch, result
    written(None)


CHECKED_MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        "writes a letter again",
        partial(patch.object, LetterPlace, "producer_id", property(_another_id)),
        4,
        SetAsideExactlyOnce,
        seeks=FAULTS_OF_COORDINATORS,
        checked=2,
    ),
    Mutant(
        "takes the duplicate of a place for done",
        partial(patch.object, appending, "set_aside_of", _takes_duplicates_for_done),
        10,
        SetAsideExactlyOnce,
        seeks=FAULTS_OF_COORDINATORS,
        checked=2,
    ),
    Mutant(
        "acknowledges before the letter is written",
        partial(patch.object, SetAsides, "deliver", _acknowledges_first),
        1,
        SetAsideExactlyOnce,
        seeks=FAULTS_OF_COORDINATORS,
        checked=1,
    ),
)
