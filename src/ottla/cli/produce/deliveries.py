"""Counts the deliveries of produced records."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ottla.client.errors import ClientError
from ottla.client.records import RecordMetadata
from ottla.client.sync.producer import PendingDelivery


@dataclass(slots=True)
class PartitionTally:
    """The records written to one partition. With acks=0 the offsets are unknown."""

    records: int = 0
    first_offset: int | None = None
    last_offset: int | None = None


class Deliveries:
    """Collects the deliveries of records in the order in which they were sent.

    Bytes are those of the values only.
    """

    def __init__(self) -> None:
        self.partitions: dict[int, PartitionTally] = {}
        self.records = 0
        self.size_in_bytes = 0
        self.first_error: ClientError | None = None
        self._pending: deque[tuple[PendingDelivery, int]] = deque()

    def add(self, delivery: PendingDelivery, size_in_bytes: int) -> None:
        self._pending.append((delivery, size_in_bytes))

    def collect(self) -> None:
        """Counts those that are done, up to the first that is not."""
        pending = self._pending
        while pending and pending[0][0].done():
            delivery, size_in_bytes = pending.popleft()
            try:
                self._count(delivery.result(), size_in_bytes)
            except ClientError as error:
                self.fail(error)

    def fail(self, error: ClientError) -> None:
        self.first_error = self.first_error or error

    def _count(self, written: RecordMetadata, size_in_bytes: int) -> None:
        self.records += 1
        self.size_in_bytes += size_in_bytes
        tally = self.partitions.get(written.partition)
        if tally is None:
            tally = self.partitions[written.partition] = PartitionTally()
        tally.records += 1
        if written.offset >= 0:
            tally.last_offset = written.offset
            if tally.first_offset is None:
                tally.first_offset = written.offset
