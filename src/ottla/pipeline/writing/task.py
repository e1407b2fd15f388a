"""The first phase: a task writes its rows in a transaction of its own, and leaves it open."""

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
from ottla.pipeline.writing.transactions import Producer, SinkTransactions

# Rows are taken so many bytes at a time: enough for large batches of some partitions.
_CHUNK_BYTES: Final = 8 * 1024 * 1024


def write_slot(
    batches: Iterator[pa.RecordBatch],
    options: SinkOptions,
    *,
    slot: int,
    work: Work,
    is_journaled: bool,
) -> DecisionPart:
    """Writes all rows, or none if they are in already. Runs a loop of its own to the end."""
    with asyncio.Runner() as runner:
        cluster = cluster_of(options)
        try:
            # The runner's own `run` looks for interrupts each time.
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
    """Fetches from Spark and sends in turns, in a loop that runs only while something is sent."""

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
        """Unless it was decided already to commit this batch, and its rows of it are in."""
        run, slot, commitment = self._loop.run_until_complete, self._slot, self._commitment
        decision = run(commitment.decided())
        transactional_id = work.transactional_id(slot)
        if decision is None:
            # A new producer would abort what was decided and not committed.
            run(commitment.finish_older([slot]))
            return self.write(batches, transactional_id, marks=True)
        lost = run(commitment.finish(decision))
        if slot in lost:
            # Should somebody else commit it meanwhile, the driver finds that and drops this one.
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

    async def _begin(self, transactional_id: str | None) -> Producer:
        return await SinkTransactions(self._cluster).begin(
            transactional_id, timeout_ms=self._options.transaction_timeout_ms
        )


def _chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Some batches at a time, none without rows."""
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
