"""The sink classes that Spark calls, on the driver and in tasks, each time in another process.

Only pickled state survives between calls: the options, and the commit messages from the tasks to
the driver. Spark constructs a stream's writer again for each commit, so constructors send no
requests to the cluster.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from ottla.client.two_phase.commitment import Commitment, drop, require_open
from ottla.client.two_phase.decisions import DecisionPart, Work
from ottla.client.two_phase.prepared_transactions import PreparedTransactions
from ottla.client.two_phase.two_phase_client import TwoPhaseClient
from ottla.pipeline.reading.errors import OptionError
from ottla.pipeline.writing.columns import check_columns
from ottla.pipeline.writing.errors import explained
from ottla.pipeline.writing.options import SinkOptions
from ottla.pipeline.writing.sink_client import sink_client

# Spark's names for these local properties of a stream's tasks.
_QUERY_ID = "sql.streaming.queryId"
_BATCH_ID = "streaming.sql.batchId"


@dataclass(frozen=True)
class Prepared(WriterCommitMessage):
    """A task's commit message to the driver."""

    work: Work
    part: DecisionPart


class OttlaWriter(DataSourceArrowWriter):
    """Writes a batch. With a `writeId` (and a `writeVersion`, if the id has several batches) a
    repeated write is written once."""

    def __init__(self, options: SinkOptions, schema: StructType, *, write_id: str) -> None:
        _check(options, schema)
        self._options = options
        self._work = Work(write_id, options.write_version)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Prepared:
        # Imported here because it loads the compiled loops, which only tasks need.
        from ottla.pipeline.writing.task import write_slot

        part = write_slot(
            iterator,
            self._options,
            slot=_task_context().partitionId(),
            work=self._work,
            is_journaled=self._is_journaled,
        )
        return Prepared(self._work, part)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        parts = _parts(messages)
        if not self._options.is_exactly_once:
            return
        if self._is_journaled:
            _with_commitment(self._options, self._work, lambda found: found.commit(parts))
        else:
            _with_transactions(self._options, lambda found: _commit_all(found, parts))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        parts = _parts(messages)
        if self._is_journaled:
            _with_commitment(self._options, self._work, lambda found: found.abort(parts))
        else:
            _with_transactions(self._options, lambda found: drop(found, parts))

    @property
    def _is_journaled(self) -> bool:
        return self._options.is_exactly_once and self._options.write_id is not None


class OttlaStreamWriter(DataSourceStreamArrowWriter):
    """Writes a stream. A repeated micro-batch is written once."""

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        _check(options, schema)
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Prepared:
        context = _task_context()
        query, batch_id = (context.getLocalProperty(name) for name in (_QUERY_ID, _BATCH_ID))
        assert query is not None, "Spark sets the query id in a stream's tasks"
        assert batch_id is not None, "Spark sets the batch id in a stream's tasks"
        work = Work(query, int(batch_id))
        from ottla.pipeline.writing.task import write_slot

        part = write_slot(
            iterator, self._options, slot=context.partitionId(), work=work, is_journaled=True
        )
        return Prepared(work, part)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        parts = _parts(messages)
        if parts and self._options.is_exactly_once:
            work = _work(messages, batchId)
            _with_commitment(self._options, work, lambda found: found.commit(parts))

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        parts = _parts(messages)
        if parts and self._options.is_exactly_once:
            work = _work(messages, batchId)
            _with_commitment(self._options, work, lambda found: found.abort(parts))


def require_append(*, overwrite: bool) -> None:
    if overwrite:
        raise OptionError('a topic cannot be overwritten: write with mode("append")')


def _check(options: SinkOptions, schema: StructType) -> None:
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    check_columns(types, has_topic=options.topic is not None)


def _task_context() -> TaskContext:
    context = TaskContext.get()
    assert context is not None, "write is called in a task"
    return context


def _parts(messages: Sequence[WriterCommitMessage | None]) -> list[DecisionPart]:
    """The parts of the tasks that sent a commit message."""
    return [message.part for message in messages if isinstance(message, Prepared)]


def _work(messages: Sequence[WriterCommitMessage | None], batch_id: int) -> Work:
    (query,) = {message.work.query for message in messages if isinstance(message, Prepared)}
    return Work(query, batch_id)


async def _commit_all(transactions: PreparedTransactions, parts: Sequence[DecisionPart]) -> None:
    await require_open(transactions, parts)
    for part in parts:
        if part.producer is not None:
            await transactions.end(part.producer, commits=True)


def _with_commitment(
    options: SinkOptions, work: Work, operation: Callable[[Commitment], Awaitable[None]]
) -> None:
    _with_client(options, lambda client: operation(Commitment(client, work)))


def _with_transactions(
    options: SinkOptions, operation: Callable[[PreparedTransactions], Awaitable[None]]
) -> None:
    _with_client(options, lambda client: operation(client.transactions))


def _with_client(
    options: SinkOptions, operation: Callable[[TwoPhaseClient], Awaitable[None]]
) -> None:
    async def run() -> None:
        with explained(options):
            async with sink_client(options) as client:
                await operation(client)

    asyncio.run(run())
