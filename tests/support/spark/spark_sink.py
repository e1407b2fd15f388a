"""The sink's writers called as Spark calls them, without Spark: each call on an object of its own.

A `Query` is a stream whose tasks and commits can be made to die at any of the requests by which
transactions end.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from confluent_kafka import Consumer, Message, TopicPartition
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from ottla.client.producing.transactions import PreparedTransaction
from ottla.client.two_phase.prepared_transactions import PreparedTransactions
from ottla.pipeline.writing import data_sink
from ottla.pipeline.writing.data_sink import OttlaStreamWriter, OttlaWriter, Prepared
from ottla.pipeline.writing.options import parse_options
from tests.conformance.clients import TIMEOUT_S

SCHEMA = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
    ]
)
READS_MAX = 200


class Died(BaseException):
    """What nothing in the sink may catch: the process is gone."""


class _Context:
    """Of a task, as Spark gives it."""

    def __init__(self, slot: int, properties: Mapping[str, str]) -> None:
        self._slot = slot
        self.getLocalProperty = properties.get

    def partitionId(self) -> int:  # noqa: N802 - Spark's name
        return self._slot


def rows(values: Sequence[bytes], **columns: pa.Array) -> pa.RecordBatch:
    """Each row's key is its value, unless keys are given."""
    column = pa.array(values, pa.binary())
    return pa.RecordBatch.from_pydict({"key": column, "value": column, **columns})


def _in_task(slot: int, properties: Mapping[str, str], write: Callable[[], Any]) -> Prepared:
    with patch.object(data_sink, "TaskContext") as context:
        context.get.return_value = _Context(slot, properties)
        prepared = pickle.loads(pickle.dumps(write()))
    assert isinstance(prepared, Prepared)
    return prepared


class Query:
    """A stream with a checkpoint that is somewhere else: the test says which batch it is."""

    def __init__(self, bootstrap: str, query_id: str, **options: str) -> None:
        self._properties = {"sql.streaming.queryId": query_id}
        self._given = {"kafka.bootstrap.servers": bootstrap, **options}

    def writer(self) -> OttlaStreamWriter:
        options = parse_options(self._given, is_streaming=True)
        return OttlaStreamWriter(options, SCHEMA)

    def prepare(self, batch_id: int, slots: Sequence[pa.RecordBatch]) -> list[Prepared]:
        return [self.prepare_slot(batch_id, slot, each) for slot, each in enumerate(slots)]

    def prepare_slot(self, batch_id: int, slot: int, batch: pa.RecordBatch) -> Prepared:
        return self.prepare_pieces(batch_id, slot, iter([batch]))

    def prepare_pieces(
        self, batch_id: int, slot: int, pieces: Iterator[pa.RecordBatch]
    ) -> Prepared:
        properties = {**self._properties, "streaming.sql.batchId": str(batch_id)}
        return _in_task(slot, properties, lambda: self.writer().write(pieces))

    def commit(self, batch_id: int, messages: Sequence[Prepared]) -> None:
        self.writer().commit(list(messages), batch_id)

    def abort(self, batch_id: int, messages: Sequence[Prepared | None]) -> None:
        self.writer().abort(list(messages), batch_id)

    def run(self, batch_id: int, slots: Sequence[pa.RecordBatch]) -> None:
        self.commit(batch_id, self.prepare(batch_id, slots))


def write_batch(bootstrap: str, slots: Sequence[pa.RecordBatch], **options: str) -> None:
    given = parse_options({"kafka.bootstrap.servers": bootstrap, **options}, is_streaming=False)
    writer = OttlaWriter(given, SCHEMA, write_id=given.write_id or "unnamed")

    def prepare(slot: int, batch: pa.RecordBatch) -> Prepared:
        return _in_task(slot, {}, lambda: writer.write(iter([batch])))

    writer.commit([prepare(slot, batch) for slot, batch in enumerate(slots)])


def _die() -> None:
    raise Died


@contextmanager
def dying_at(number: int, *, before: bool, die: Callable[[], None] = _die) -> Iterator[None]:
    """Fails at the given end of a transaction, before or after its request."""
    end, count = PreparedTransactions.end, 0

    async def counted(
        self: PreparedTransactions, producer: PreparedTransaction, *, commits: bool
    ) -> None:
        nonlocal count
        count += 1
        if count == number and before:
            die()
        await end(self, producer, commits=commits)
        if count == number and not before:
            die()

    with patch.object(PreparedTransactions, "end", counted):
        yield


def read(bootstrap: str, topic: str, *, count: int) -> list[Message]:
    """Everything that is committed, as soon as it is so much; what is more is found as well.

    The producer of a transaction gets its response a moment before the markers are in the logs.
    """
    for _ in range(READS_MAX):
        found = _read_once(bootstrap, topic)
        if len(found) >= count:
            break
    return found


def values(bootstrap: str, topic: str, *, count: int) -> Counter[bytes]:
    return Counter(message.value() or b"" for message in read(bootstrap, topic, count=count))


def _read_once(bootstrap: str, topic: str) -> list[Message]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
            "log_level": 0,
        }
    )
    try:
        count = len(consumer.list_topics(topic, TIMEOUT_S).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, index, 0) for index in range(count)])
        found, ends = [], 0
        while ends < count:
            message = consumer.poll(TIMEOUT_S)
            assert message is not None, f"no end of {topic}"
            if message.error() is None:
                found.append(message)
            else:
                ends += 1
        return found
    finally:
        consumer.close()
