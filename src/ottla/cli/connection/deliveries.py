"""Counts the delivery reports of produced records."""

from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import KafkaError, Message


@dataclass(slots=True)
class PartitionTally:
    """The records written to one partition. With acks=0 the offsets are unknown."""

    records: int = 0
    first_offset: int | None = None
    last_offset: int | None = None


class Deliveries:
    """Counts the client's calls of `on_delivery`, which it makes within poll and flush.

    Bytes are those of the values only: reading a message's key would copy it.
    """

    def __init__(self) -> None:
        self.partitions: dict[int, PartitionTally] = {}
        self.records = 0
        self.size_in_bytes = 0
        self.first_error: KafkaError | None = None

    def on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.fail(error)
            return
        self.records += 1
        self.size_in_bytes += len(message)
        self._count_partition(message)

    def fail(self, error: KafkaError) -> None:
        self.first_error = self.first_error or error

    def _count_partition(self, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        assert partition is not None, "a delivered record has a partition"
        tally = self.partitions.get(partition)
        if tally is None:
            tally = self.partitions[partition] = PartitionTally()
        tally.records += 1
        if offset is not None and offset >= 0:
            tally.last_offset = offset
            if tally.first_offset is None:
                tally.first_offset = offset
