"""The second phase: the driver commits or aborts all transactions that a batch's tasks prepared.

The driver first initializes a producer under the query's own transactional id, which fences any
older driver of the same query, and then reads the journal. So two drivers cannot both decide about
a batch, and the later driver sees the decision of the earlier one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ottla.client.producing.producer import Producer
from ottla.client.two_phase.decisions import BatchDecision, DecisionPart, Work
from ottla.client.two_phase.errors import FencedError, ReplayError, TransactionLostError
from ottla.client.two_phase.journal import Journal
from ottla.client.two_phase.prepared_transactions import PreparedTransactions
from ottla.client.two_phase.two_phase_client import TwoPhaseClient

_log = logging.getLogger(__name__)


class SlotWork(NamedTuple):
    """What is left to do for a task's rows."""

    # Whether they have to be written, in a new transaction.
    is_missing: bool
    # The decision about an earlier attempt at the batch, of which rows are missing.
    decision: BatchDecision | None = None


class Commitment:
    """Commits one batch. Used by the driver, and by tasks to look for an earlier decision."""

    def __init__(self, client: TwoPhaseClient, work: Work) -> None:
        self._client = client
        self._work = work
        self._transactions = client.transactions
        self.journal = Journal(client, work)
        # The decision about an earlier batch, set by `decided`.
        self._older: BatchDecision | None = None

    async def decided(self) -> BatchDecision | None:
        """The journal's decision about this batch, or None. Raises ReplayError if the query has
        committed a later batch already."""
        decision = await self.journal.decision()
        if decision is None or decision.batch_id < self._work.batch_id:
            self._older = decision
            return None
        if decision.batch_id > self._work.batch_id:
            raise ReplayError(
                f"batch {self._work.batch_id} of query {self._work.query} is to be written, but "
                f"batch {decision.batch_id} is committed already: the checkpoint is older than "
                "the batches that were written with it. Use the newest checkpoint, or begin with "
                "an empty one"
            )
        return decision

    async def finish_older(self, slots: Iterable[int]) -> None:
        """Commits the earlier batch's transactions of these slots if they are still open. In a
        stream they never are; a batch writer may start its next `writeVersion` without them."""
        if self._older is None:
            return
        for slot in slots:
            part = self._older.parts.get(slot)
            if part is not None and part.producer is not None:
                with suppress(FencedError):
                    await self._transactions.end(part.producer, commits=True)

    async def slot_work(self, slot: int) -> SlotWork:
        """Called by a task before it writes. Raises ReplayError like `decided`. If there is a
        decision, the task's count of rows has to be checked with `require_same_rows`."""
        decision = await self.decided()
        if decision is None:
            # A new producer would abort a transaction that is decided but not committed yet.
            await self.finish_older([slot])
            return SlotWork(is_missing=True)
        lost = await self.finish(decision)
        # If another process commits the slot meanwhile, the driver sees that and aborts the
        # transaction of this attempt.
        return SlotWork(slot in lost, decision if lost else None)

    async def finish(self, decision: BatchDecision) -> set[int]:
        """Commits the decision's transactions, some of which may be committed already. Returns
        the slots whose transactions were aborted in spite of the decision."""
        uncertain = []
        for part in decision.parts.values():
            if part.producer is None:
                continue
            try:
                await self._transactions.end(part.producer, commits=True)
            except FencedError as error:
                _log.warning("slot %d: %s", part.slot, error)
                uncertain.append(part.slot)
        if not uncertain:
            return set()
        marks = await self.journal.marks(uncertain)
        return {slot for slot in uncertain if marks.get(slot) != decision.batch_id}

    async def commit(self, parts: Sequence[DecisionPart]) -> None:
        """Raises TransactionLostError if a transaction was aborted. The batch must then be written
        again; rows that are committed are not written twice."""
        if not any(part.row_count for part in parts):
            return
        prepared = {part.slot: part for part in parts}
        driver = await self._driver()
        decision = await self.decided()
        if decision is None:
            if self._older is not None:
                await self.finish_older(set(self._older.parts).difference(prepared))
            await require_open(self._transactions, parts)
            decision = BatchDecision(self._work.batch_id, prepared)
        else:
            lost = await self.finish(decision)
            await self._drop(part for part in parts if part.slot not in lost)
            if not lost:
                return
            decision = decision.with_parts(self._replacing(decision, prepared, lost))
        await self.journal.write_decision(driver, decision)
        if lost := await self.finish(decision):
            raise _lost(lost)

    async def abort(self, parts: Sequence[DecisionPart]) -> None:
        """Aborts the transactions, unless the journal has a decision to commit them."""
        await self._driver()
        if await self.decided() is None:
            await self._drop(parts)

    def _replacing(
        self, decision: BatchDecision, prepared: Mapping[int, DecisionPart], lost: set[int]
    ) -> dict[int, DecisionPart]:
        """The new parts of the lost slots. Each must have as many rows as before."""
        found = {}
        for slot in lost:
            part = prepared.get(slot)
            if part is None or part.producer is None:
                raise _lost({slot})
            require_same_rows(decision, slot, part.row_count)
            found[slot] = part
        return found

    async def _driver(self) -> Producer:
        return await self._client.begun(self._work.driver_transactional_id)

    async def _drop(self, parts: Iterable[DecisionPart]) -> None:
        await drop(self._transactions, parts)


def require_same_rows(decision: BatchDecision, slot: int, row_count: int) -> None:
    """Raises ReplayError if a slot is written again with another number of rows."""
    known = decision.parts.get(slot)
    before = 0 if known is None else known.row_count
    if row_count != before:
        raise ReplayError(
            f"batch {decision.batch_id} was written in part and is written again, but task {slot} "
            f"has {row_count} rows now and had {before}: the rows are distributed differently "
            "over the tasks, so the missing rows cannot be determined. Run it with the same "
            "master, partitions and settings as before"
        )


async def require_open(transactions: PreparedTransactions, parts: Iterable[DecisionPart]) -> None:
    """Raises TransactionLostError if a part's transaction is not open. Checked before deciding."""
    for part in parts:
        if part.producer is not None and not await transactions.is_open(part.producer):
            raise _lost({part.slot})


async def drop(transactions: PreparedTransactions, parts: Iterable[DecisionPart]) -> None:
    for part in parts:
        if part.producer is not None:
            # FencedError: another producer has ended it.
            with suppress(FencedError):
                await transactions.end(part.producer, commits=False)


def _lost(slots: set[int]) -> TransactionLostError:
    names = ", ".join(map(str, sorted(slots)))
    return TransactionLostError(
        f"the transactions of tasks {names} were aborted before they could be committed: the batch "
        "took longer than transaction.timeout.ms (in Spark kafka.transaction.timeout.ms), or "
        "another attempt at it has begun. Start the query again, with smaller batches or a longer "
        "timeout: their rows are written again"
    )
