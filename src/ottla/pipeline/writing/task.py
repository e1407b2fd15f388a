"""The first phase: each task writes its rows in a transaction of its own and leaves it open."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from ottla.client.producing.producer import Producer
from ottla.client.two_phase.commitment import Commitment, require_same_rows
from ottla.client.two_phase.decisions import DecisionPart, Work
from ottla.client.two_phase.two_phase_client import TwoPhaseClient
from ottla.pipeline.spark_worker import set_aside
from ottla.pipeline.writing.errors import explained
from ottla.pipeline.writing.options import SinkOptions
from ottla.pipeline.writing.row_writer import RowWriter
from ottla.pipeline.writing.sink_client import sink_client

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
        # The runner's own `run` installs a signal handler on each call, which costs time.
        loop = runner.get_loop()
        # Connections belong to the loop that runs when they are made.
        client = loop.run_until_complete(_made(options))
        try:
            task = _Task(loop, client, options, slot, Commitment(client, work))
            with explained(options):
                if not options.is_exactly_once:
                    return task.write(batches, None)
                if is_journaled:
                    return task.write_once(batches, work)
                return task.write(batches, work.transactional_id(slot))
        finally:
            runner.run(client.close())
            set_aside("loops of the sink")


async def _made(options: SinkOptions) -> TwoPhaseClient:
    return sink_client(options)


class _Task:
    """Takes rows from Spark and sends them in turns; the event loop runs only while sending."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        client: TwoPhaseClient,
        options: SinkOptions,
        slot: int,
        commitment: Commitment,
    ) -> None:
        self._loop = loop
        self._client = client
        self._options = options
        self._slot = slot
        self._commitment = commitment

    def write_once(self, batches: Iterator[pa.RecordBatch], work: Work) -> DecisionPart:
        """Writes the rows, unless the journal has a decision for this batch and the slot's rows
        are committed."""
        run, slot, commitment = self._loop.run_until_complete, self._slot, self._commitment
        left = run(commitment.slot_work(slot))
        if left.is_missing:
            part = self.write(batches, work.transactional_id(slot), marks=True)
        else:
            part = DecisionPart(slot, sum(batch.num_rows for batch in batches), None)
        if left.decision is not None:
            require_same_rows(left.decision, slot, part.row_count)
        return part

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
        writer = RowWriter(self._client.cluster, producer, self._options, slot=self._slot)
        for chunk in itertools.chain([first], chunks):
            run(writer.write(chunk))
            row_count += sum(batch.num_rows for batch in chunk)
        if marks:
            run(self._commitment.journal.write_mark(producer, self._slot))
        if transactional_id is None:
            return DecisionPart(self._slot, row_count, None)
        return DecisionPart(self._slot, row_count, run(producer.prepare_transaction()))

    async def _begin(self, transactional_id: str | None) -> Producer:
        if transactional_id is None:
            return self._client.producer(None)
        return await self._client.begun(transactional_id)


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
