"""Offsets of partitions, and the deletion of the oldest records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.client.administration.requests import AdminRequests, Outcomes, by_topic, outcome
from ottla.client.administration.results import Results
from ottla.model import TopicPartition
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

_CLIENT: Final = -1
# Kafka's debugging replica id: followers serve its ListOffsets, too.
_DEBUGGING_REPLICA: Final = -2
_READ_COMMITTED: Final = 1
# The end of the partition, as DeleteRecords knows it.
END: Final = -1


class OffsetSpec(IntEnum):
    """Places in a partition; the codes are Kafka's. LATEST is the offset of the next record, the
    others are those of records."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5


class ListedOffset(NamedTuple):
    """An offset, with the timestamp and the leader epoch of the record there. `timestamp` is -1 and
    `leader_epoch` None if there is no record or the cluster does not say."""

    offset: int
    timestamp: int
    leader_epoch: int | None


class OffsetOperations(AdminRequests):
    """The methods of `Admin` for the records of partitions."""

    async def list_offsets(
        self,
        places: Mapping[TopicPartition, OffsetSpec | int],
        *,
        read_committed: bool = False,
        broker: int | None = None,
        timeout: float | None = None,
    ) -> Results[TopicPartition, ListedOffset | None]:
        """The offset of each place: an OffsetSpec, or a timestamp in milliseconds, for the first
        record with that timestamp or a later one. None if there is no such record.
        `read_committed` takes the last stable offset for the latest. `broker` asks this one for its
        own replicas, whichever node leads; LATEST is the end of its log then."""

        async def exchange(
            node_id: int, names: Sequence[TopicPartition]
        ) -> Outcomes[TopicPartition, ListedOffset | None]:
            request = ListOffsetsRequest(
                replica_id=_CLIENT if broker is None else _DEBUGGING_REPLICA,
                isolation_level=_READ_COMMITTED if read_committed else 0,
                topics=[
                    ListOffsetsTopic(
                        name=topic,
                        partitions=[
                            ListOffsetsPartition(
                                partition_index=index,
                                timestamp=places[TopicPartition(topic, index)],
                            )
                            for index in indexes
                        ],
                    )
                    for topic, indexes in by_topic(names).items()
                ],
                timeout_ms=self._cluster.settings.request_timeout_ms,
            )
            answer = await self._ask_node(node_id, request)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    _listed(each.offset, each.timestamp, each.leader_epoch), each.error_code
                )
                for topic in answer.topics
                for each in topic.partitions
            }

        if broker is None:
            return await self._each_leader("list offsets", places, exchange, timeout)

        async def attempt(
            names: Sequence[TopicPartition],
        ) -> Outcomes[TopicPartition, ListedOffset | None]:
            return await self._by_node(dict.fromkeys(names, broker), exchange)

        return await self._each("list offsets", places, attempt, timeout)

    async def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, int]:
        """Deletes the records before these offsets; -1 deletes all there are. Returns the earliest
        offsets that are left."""
        deadline = self._deadline(timeout)

        async def exchange(
            node_id: int, names: Sequence[TopicPartition]
        ) -> Outcomes[TopicPartition, int]:
            request = DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=topic,
                        partitions=[
                            DeleteRecordsPartition(
                                partition_index=index, offset=before[TopicPartition(topic, index)]
                            )
                            for index in indexes
                        ],
                    )
                    for topic, indexes in by_topic(names).items()
                ],
                timeout_ms=self._remaining_ms(deadline),
            )
            answer = await self._cluster.send(node_id, request)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    each.low_watermark, each.error_code
                )
                for topic in answer.topics
                for each in topic.partitions
            }

        return await self._each_leader("delete records", before, exchange, timeout)


def _listed(offset: int, timestamp: int, leader_epoch: int) -> ListedOffset | None:
    if offset < 0:
        return None
    return ListedOffset(offset, timestamp, None if leader_epoch < 0 else leader_epoch)
