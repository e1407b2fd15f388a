"""The first phase: each task writes its rows in a transaction of its own and leaves it open."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from ottla.pipeline.reading.cluster import SourceCluster
from ottla.pipeline.spark_worker import set_aside
from ottla.pipeline.writing.commitment import Commitment, cluster_of, require_same_rows
from ottla.pipeline.writing.decisions import DecisionPart, Work
from ottla.pipeline.writing.options import SinkOptions
from ottla.pipeline.writing.row_writer import RowWriter
from ottla.pipeline.writing.transactions import SinkProducer, SinkTransactions

# The bytes of rows that are encoded together: enough for large batches of some partitions.
_CHUNK_BYTES: Final = 8 * 1024 * 1024


def write_slot(
    batches: Iterator[pa.RecordBatch],
    options: SinkOptions,
    *,
    slot: int,
    work: Work,
    is_journaled: bool,
) -> DecisionPart:
    """Writes all rows, or none if they are committed already. Runs its own event loop."""
    with asyncio.Runner() as runner:
        cluster = cluster_of(options)
        try:
            # The runner's own `run` installs a signal handler on each call, which costs time.
            loop = runner.get_loop()
            task = _Task(loop, cluster, options, slot, Commitment(cluster, work, options))
            if not options.is_exactly_once:
                return task.write(batches, None)
            if is_journaled:
                return task.write_once(batches, work)
            return task.write(batches, work.transactional_id(slot))
        finally:
            runner.run(cluster.__aexit__())
            set_aside("loops of the sink")


class _Task:
    """Takes rows from Spark and sends them in turns; the event loop runs only while sending."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        cluster: SourceCluster,
        options: SinkOptions,
        slot: int,
        commitment: Commitment,
    ) -> None:
        self._loop = loop
        self._cluster = cluster
        self._options = options
        self._slot = slot
        self._commitment = commitment

    def write_once(self, batches: Iterator[pa.RecordBatch], work: Work) -> DecisionPart:
        """Writes the rows, unless the journal has a decision for this batch and the slot's rows
        are committed."""
        run, slot, commitment = self._loop.run_until_complete, self._slot, self._commitment
        decision = run(commitment.decided())
        transactional_id = work.transactional_id(slot)
        if decision is None:
            # A new producer would abort a transaction that is decided but not committed yet.
            run(commitment.finish_older([slot]))
            return self.write(batches, transactional_id, marks=True)
        lost = run(commitment.finish(decision))
        if slot in lost:
            # If another process commits the slot meanwhile, the driver sees that and aborts this
            # transaction.
            part = self.write(batches, transactional_id, marks=True)
            require_same_rows(decision, slot, part.row_count)
            return part
        row_count = sum(batch.num_rows for batch in batches)
        if lost:
            require_same_rows(decision, slot, row_count)
        return DecisionPart(slot, row_count, None)

    def write(
        self,
        batches: Iterator[pa.RecordBatch],
        transactional_id: str | None,
        *,
        marks: bool = False,
    ) -> DecisionPart:
        run, row_count = self._loop.run_until_complete, 0
        chunks = _chunks(batches)
        first = next(chunks, None)
        if first is None:
            return DecisionPart(self._slot, 0, None)
        producer = run(self._begin(transactional_id))
        writer = RowWriter(self._cluster, producer, self._options, slot=self._slot)
        try:
            for chunk in itertools.chain([first], chunks):
                run(writer.write(chunk))
                row_count += sum(batch.num_rows for batch in chunk)
            if marks:
                run(self._commitment.journal.write_mark(writer.sender, self._slot))
            run(writer.sender.flush())
        finally:
            writer.sender.close()
        return DecisionPart(
            self._slot, row_count, producer if transactional_id is not None else None
        )

    async def _begin(self, transactional_id: str | None) -> SinkProducer:
        return await SinkTransactions(self._cluster).begin(
            transactional_id, timeout_ms=self._options.transaction_timeout_ms
        )


def _chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Groups batches into chunks of about `_CHUNK_BYTES`, without empty batches."""
    chunk: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        chunk.append(batch)
        size += batch.nbytes
        if size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
