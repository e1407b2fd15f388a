"""The second phase: what a batch's tasks have prepared is committed, whole, once, or aborted.

The driver first takes a producer id of its own under the query's name, which fences any other
driver of the query that may still be there, and then looks into the journal. So two drivers cannot
both decide about a batch, and the one that comes later sees what the other one has decided.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ottla.pipeline.reading.cluster import SourceCluster
from ottla.pipeline.writing.decisions import BatchDecision, DecisionPart, Work
from ottla.pipeline.writing.errors import FencedError, ReplayError, TransactionLostError
from ottla.pipeline.writing.journal import Journal
from ottla.pipeline.writing.options import SinkOptions
from ottla.pipeline.writing.transactions import SinkTransactions
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork

_log = logging.getLogger(__name__)


def cluster_of(options: SinkOptions) -> SourceCluster:
    """To be used within `async with`."""
    return SourceCluster(
        options.bootstrap,
        SystemNetwork(),
        SystemClock(),
        client_id=options.client_id,
        timeout_ms=options.delivery_timeout_ms,
    )


class Commitment:
    """Of one batch. Used by the driver, and by tasks that find their batch decided already."""

    def __init__(self, cluster: SourceCluster, work: Work, options: SinkOptions) -> None:
        self._work = work
        self._options = options
        self._transactions = SinkTransactions(cluster)
        self.journal = Journal(cluster, work, options)
        # What was decided about the batch before this one, once that was looked for.
        self._older: BatchDecision | None = None

    async def decided(self) -> BatchDecision | None:
        """What was decided about this batch, if anything was. Raises ReplayError if the query was
        further already."""
        decision = await self.journal.decision()
        if decision is None or decision.batch_id < self._work.batch_id:
            self._older = decision
            return None
        if decision.batch_id > self._work.batch_id:
            raise ReplayError(
                f"batch {self._work.batch_id} of query {self._work.query} is to be written, but "
                f"batch {decision.batch_id} is committed already: the checkpoint is older than "
                "what was written with it. Use the newest one, or begin with an empty one"
            )
        return decision

    async def finish_older(self, slots: Iterable[int]) -> None:
        """Commits what these slots had in the batch before, as far as nobody has. A query comes
        here with all of it committed; a writer of batches may have gone on without."""
        if self._older is None:
            return
        for slot in slots:
            part = self._older.parts.get(slot)
            if part is not None and part.producer is not None:
                with suppress(FencedError):
                    await self._transactions.end(part.producer, commits=True)

    async def finish(self, decision: BatchDecision) -> set[int]:
        """Commits what was decided, and may be committed already. Returns the slots whose
        transactions are lost: aborted in spite of the decision."""
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
        """Raises TransactionLostError if rows are not in; the batch is to be written again then,
        and what is in will not be written twice."""
        if not any(part.row_count for part in parts):
            return
        prepared = {part.slot: part for part in parts}
        driver = await self._transactions.begin(
            self._work.driver_transactional_id,
            timeout_ms=self._options.transaction_timeout_ms,
        )
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
        """Unless it was decided to commit them."""
        await self._transactions.begin(
            self._work.driver_transactional_id,
            timeout_ms=self._options.transaction_timeout_ms,
        )
        if await self.decided() is None:
            await self._drop(parts)

    def _replacing(
        self, decision: BatchDecision, prepared: Mapping[int, DecisionPart], lost: set[int]
    ) -> dict[int, DecisionPart]:
        """The lost slots as they were written again. Each must have got the rows that it had."""
        found = {}
        for slot in lost:
            part = prepared.get(slot)
            if part is None or part.producer is None:
                raise _lost({slot})
            require_same_rows(decision, slot, part.row_count)
            found[slot] = part
        return found

    async def _drop(self, parts: Iterable[DecisionPart]) -> None:
        await drop(self._transactions, parts)


def require_same_rows(decision: BatchDecision, slot: int, row_count: int) -> None:
    """Raises ReplayError where a slot is written again with other rows than the first time."""
    known = decision.parts.get(slot)
    before = 0 if known is None else known.row_count
    if row_count != before:
        raise ReplayError(
            f"batch {decision.batch_id} was written in part and is written again, but task {slot} "
            f"has {row_count} rows now and had {before}: rows are not shared out over tasks as "
            "before, so nobody can tell which are missing. Run it with the same master, "
            "partitions and settings as before"
        )


async def require_open(transactions: SinkTransactions, parts: Iterable[DecisionPart]) -> None:
    """Raises TransactionLostError before anything is decided."""
    for part in parts:
        if part.producer is not None and not await transactions.is_open(part.producer):
            raise _lost({part.slot})


async def drop(transactions: SinkTransactions, parts: Iterable[DecisionPart]) -> None:
    for part in parts:
        if part.producer is not None:
            # Somebody else has ended it.
            with suppress(FencedError):
                await transactions.end(part.producer, commits=False)


def _lost(slots: set[int]) -> TransactionLostError:
    names = ", ".join(map(str, sorted(slots)))
    return TransactionLostError(
        f"the transactions of tasks {names} were aborted before they could be committed: the batch "
        "took longer than kafka.transaction.timeout.ms, or another attempt at it has begun. Start "
        "the query again, with smaller batches or a longer timeout: their rows are written again"
    )
