"""The delivery of a table."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from ottla.client.producing.batch import ProducerBatch


class WrittenRows(NamedTuple):
    """Rows that were written one after the other: `row_count` of them from `first_offset` on. The
    offset is -1 if the broker does not say, as with acks=0."""

    topic: str
    partition: int
    first_offset: int
    row_count: int


class ColumnsDelivery:
    """Awaiting it gives a list of `WrittenRows`, or raises the ClientError for which rows were not
    written; then others may have been."""

    __slots__ = ("_batches",)

    def __init__(self, batches: Sequence[tuple[ProducerBatch, int]]) -> None:
        self._batches = batches

    def __await__(self) -> Generator[Any, None, list[WrittenRows]]:
        for batch, _ in self._batches:
            if not batch.is_decided():
                yield from batch.wait().__await__()
        return self.result()

    def done(self) -> bool:
        return all(batch.is_decided() for batch, _ in self._batches)

    def result(self) -> list[WrittenRows]:
        found = []
        for batch, count in self._batches:
            written = batch.metadata(0, 0)
            found.append(WrittenRows(written.topic, written.partition, written.offset, count))
        return found
