"""The records that dead letters came from, read from their partitions."""

from __future__ import annotations

from typing import Final

from ottla.client.consuming.consumer import Consumer
from ottla.client.records import ConsumedRecord
from ottla.model import TopicPartition

_READ_SECONDS: Final = 10.0


class Originals:
    """Uses a consumer without a group, one partition at a time."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._bounds: dict[TopicPartition, range] = {}
        self._assigned: TopicPartition | None = None
        self._next = -1

    async def read(self, name: TopicPartition, offset: int) -> ConsumedRecord | None:
        """None if the partition does not have the record any more."""
        if offset not in await self._bounds_of(name):
            return None
        if name != self._assigned:
            self._consumer.assign([name])
            self._assigned = name
            self._next = -1
        if offset != self._next:
            self._consumer.seek(name, offset)
        found = await self._consumer.poll(_READ_SECONDS, 1)
        if not found:
            self._next = -1
            return None
        self._next = found[0].offset + 1
        return found[0] if found[0].offset == offset else None

    async def _bounds_of(self, name: TopicPartition) -> range:
        bounds = self._bounds.get(name)
        if bounds is None:
            bounds = range(0)
            # The topic may be deleted.
            if name in await self._consumer.partitions_for(name.topic):
                first = await self._consumer.beginning_offsets([name])
                end = await self._consumer.end_offsets([name])
                bounds = range(first[name], end[name])
            self._bounds[name] = bounds
        return bounds
