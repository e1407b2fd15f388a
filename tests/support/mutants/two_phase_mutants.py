"""Bugs in the sink's two-phase commit, planted one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final

from ottla.client.producing.producer import Producer
from ottla.client.two_phase import commitment
from ottla.client.two_phase.commitment import Commitment
from ottla.client.two_phase.decisions import BatchDecision, DecisionPart, Work, encode_decision
from ottla.client.two_phase.errors import FencedError
from ottla.client.two_phase.journal import Journal
from ottla.simulation.claims.claims import Claim
from ottla.simulation.claims.two_phase_claims import (
    EachBatchIsWrittenOnce,
    NoDecidedBatchIsLost,
    NoZombieDriverCommits,
)
from tests.support.mutants.planting import FAULTS_OF_COORDINATORS, Mutant, around, replacing


def _querying(name: str, plant: Callable[[], Any], found_by: type[Claim]) -> Mutant:
    return Mutant(name, plant, 1, found_by, seeks=FAULTS_OF_COORDINATORS, queries=2, pace=3.0)


def _forgets_decisions(original: Any) -> Any:
    """A batch that is repeated is written like a new one."""

    async def decided(self: Commitment) -> BatchDecision | None:
        await original(self)
        return None

    return decided


async def _believes_marks_missing(self: Commitment, decision: BatchDecision) -> set[int]:
    """Slots that were ended by another producer are written again, committed or not."""
    lost = set()
    for part in decision.parts.values():
        if part.producer is not None:
            try:
                await self._transactions.end(part.producer, commits=True)
            except FencedError:
                lost.add(part.slot)
    return lost


async def _commits_before_deciding(self: Commitment, parts: Sequence[DecisionPart]) -> None:
    """The transactions are committed, and the decision follows."""
    driver = await self._driver()
    if not any(part.row_count for part in parts) or await self.decided() is not None:
        return
    await commitment.require_open(self._transactions, parts)
    decision = BatchDecision(self._work.batch_id, {part.slot: part for part in parts})
    await self.finish(decision)
    await self.journal.write_decision(driver, decision)


async def _believes_all_committed(self: Commitment, decision: BatchDecision) -> set[int]:
    """A transaction that another producer has ended counts as committed."""
    for part in decision.parts.values():
        if part.producer is not None:
            with suppress(FencedError):
                await self._transactions.end(part.producer, commits=True)
    return set()


async def _leaves_decisions_open(self: Journal, driver: Producer, decision: BatchDecision) -> None:
    """The decision's own transaction is not committed before those of the tasks."""
    await self._write(driver, self._work.decision_key, encode_decision(decision))
    await driver.prepare_transaction()


_drivers = count()


def _fences_no_driver(self: Work) -> str:
    """Each driver has a transactional id of its own."""
    return f"ottla-{self.query}-driver-{next(_drivers)}"


TWO_PHASE_MUTANTS: Final[tuple[Mutant, ...]] = (
    _querying(
        "writes a decided batch again",
        around(Commitment, "decided", _forgets_decisions),
        EachBatchIsWrittenOnce,
    ),
    _querying(
        "writes committed slots again",
        replacing(Commitment, "finish", _believes_marks_missing),
        EachBatchIsWrittenOnce,
    ),
    _querying(
        "commits a batch before it is decided",
        replacing(Commitment, "commit", _commits_before_deciding),
        EachBatchIsWrittenOnce,
    ),
    _querying(
        "takes aborted slots for committed",
        replacing(Commitment, "finish", _believes_all_committed),
        NoDecidedBatchIsLost,
    ),
    _querying(
        "leaves decisions undecided",
        replacing(Journal, "write_decision", _leaves_decisions_open),
        NoDecidedBatchIsLost,
    ),
    _querying(
        "drivers do not fence each other",
        replacing(Work, "driver_transactional_id", property(_fences_no_driver)),
        NoZombieDriverCommits,
    ),
)
