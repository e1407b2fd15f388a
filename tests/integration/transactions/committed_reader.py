"""Reads what the transactions of a test have committed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, TopicPartition


def read_committed(client: Mapping[str, Any], topic: str, partitions: int) -> list[list[int]]:
    """By partition, all that a consumer of committed records finds from beginning to end. `client`
    has the configs with which to connect."""
    consumer = Consumer(
        {
            **client,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    found: list[list[int]] = [[] for _ in range(partitions)]
    ended: set[int | None] = set()
    try:
        consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
        deadline = time.perf_counter() + 60
        while len(ended) < partitions:
            assert time.perf_counter() < deadline, "the copies cannot be read to their end"
            for record in consumer.consume(1_000, 0.5):
                partition = record.partition()
                if record.error() is not None:
                    ended.add(partition)
                else:
                    value = record.value()
                    assert partition is not None
                    assert value is not None
                    found[partition].append(int(value))
    finally:
        consumer.close()
    return found
