"""Assigns a task's rows to the partitions of their topics and sends them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from ottla.client.cluster import ClientCluster
from ottla.client.producing.column_partitioner import ColumnPartitioner
from ottla.client.producing.columns_delivery import ColumnsDelivery
from ottla.client.producing.producer import Producer
from ottla.model import ErrorCode
from ottla.pipeline.reading.errors import ClusterError
from ottla.pipeline.writing.errors import RowError, explained
from ottla.pipeline.writing.options import SinkOptions
from ottla.pipeline.writing.refusals import by_topic, dead_letters, find_refusals, without
from ottla.pipeline.writing.rows import Rows, to_rows
from ottla.wire.records.record_bodies import Payloads
from ottla.wire.records.row_batches import cut_batches

_NOT_THERE: Final = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.INVALID_TOPIC_EXCEPTION,
)


class RowWriter:
    """The writer of one producer and one task. Rows are appended when `write` returns. The writer
    cannot be used after an error."""

    def __init__(
        self, cluster: ClientCluster, producer: Producer, options: SinkOptions, *, slot: int
    ) -> None:
        self._cluster = cluster
        self._producer = producer
        self._options = options
        self._slot = slot
        # The partition count of each existing topic.
        self._counts: dict[str, int] = {}
        self._partitioners: dict[str, ColumnPartitioner] = {}

    async def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Raises RowError for a row that cannot be written, unless there is a dead-letter topic.
        All rows are acknowledged then: between two calls the event loop does not run."""
        deliveries: list[ColumnsDelivery] = []
        with explained(self._options):
            await self._write(batches, deliveries)
            for delivery in deliveries:
                await delivery

    async def _write(
        self, batches: Sequence[pa.RecordBatch], deliveries: list[ColumnsDelivery]
    ) -> None:
        topic = self._options.topic
        rows = to_rows(batches, has_topic=topic is not None)
        await self._learn([name for name, _ in by_topic(rows, topic) if name is not None])
        refusals = find_refusals(
            rows,
            self._counts,
            topic=topic,
            record_bytes_max=self._options.record_bytes_max,
        )
        if refusals:
            aside = self._options.dead_letter_topic
            if aside is None:
                raise RowError(refusals[0].reason)
            await self._learn([aside])
            for refusal in refusals:
                letters = dead_letters(rows.payloads, refusal)
                await self._write_to(aside, letters, None, deliveries)
            rows = without(rows, refusals)
        for name, which in by_topic(rows, topic):
            assert name is not None
            await self._write_some(name, rows, np.flatnonzero(which), deliveries)

    async def _write_to(
        self,
        topic: str,
        payloads: Payloads,
        partitions: pa.Array | None,
        deliveries: list[ColumnsDelivery],
    ) -> None:
        """Writes rows that all belong to one topic."""
        if not len(payloads.values):
            return
        await self._learn([topic])
        if topic not in self._counts:
            raise ClusterError(f"there is no topic {topic}; create it first")
        sizes = payloads.sizes_max()
        partitioner = self._partitioners.setdefault(
            topic, ColumnPartitioner(first=self._slot, batch_bytes=self._options.batch_bytes_max)
        )
        targets = partitioner.partitions(
            payloads.keys, partitions, sizes, count=self._counts[topic]
        )
        batch_bytes_max = self._options.batch_bytes_max
        batches = cut_batches(payloads, targets, sizes, batch_bytes_max=batch_bytes_max)
        deliveries.append(await self._producer.send_batches(topic, batches))

    async def _write_some(
        self,
        topic: str,
        rows: Rows,
        which: np.ndarray[tuple[int], np.dtype[np.int64]],
        deliveries: list[ColumnsDelivery],
    ) -> None:
        payloads, partitions = rows.payloads, rows.partitions
        if len(which) < len(rows):
            payloads = payloads.take(which)
            partitions = None if partitions is None else partitions.take(pa.array(which))
        await self._write_to(topic, payloads, partitions, deliveries)

    async def _learn(self, topics: Sequence[str]) -> None:
        new = [topic for topic in topics if topic not in self._counts]
        if not new:
            return
        deadline = self._cluster.clock.monotonic() + self._options.delivery_timeout_ms / 1_000
        await self._cluster.retrying(
            "looking for topics", lambda: self._cluster.refresh(new), deadline=deadline
        )
        metadata = self._cluster.metadata
        for topic in new:
            if topic in metadata.topics:
                self._counts[topic] = len(metadata.topics[topic].partitions)
                continue
            code = metadata.errors.get(topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            if code not in _NOT_THERE:
                raise ClusterError(f"topic {topic}: {code.name}", code)
