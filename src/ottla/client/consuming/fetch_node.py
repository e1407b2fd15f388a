"""The fetch requests to one node, one at a time, and its session (KIP-227)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.channels.fetch_session import FetcherSession, PartitionKey
from ottla.client.consuming.assigned_partition import AssignedPartition
from ottla.client.consuming.properties import ConsumerSettings
from ottla.client.consuming.record_queue import ReadPosition
from ottla.model import ZERO_UUID, Uuid
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

# The last version with topic names, for topics without ids.
_NAMES_VERSION = 12
# While other partitions of the node have enough records in memory, they must not wait long for the
# response to this request once they have not.
_SHORT_WAIT_MS = 20


class FetchedFrom(NamedTuple):
    """What was asked for a partition."""

    partition: AssignedPartition
    version: int
    position: ReadPosition


class FetchNode:
    """Builds requests and takes responses apart. Belongs to a `RecordFetcher`."""

    def __init__(self, node_id: int, settings: ConsumerSettings) -> None:
        self.node_id = node_id
        self.is_fetching = False
        self.reserved = 0
        # After an error of the connection.
        self.retry_at = 0.0
        self.failures = 0
        self._settings = settings
        self._session = FetcherSession()
        # What the node's session has of each partition.
        self._sent: dict[PartitionKey, FetchPartition] = {}
        self._asked: dict[PartitionKey, FetchedFrom] = {}
        self._by_name: dict[tuple[str, int], PartitionKey] = {}
        self._names: dict[Uuid, str] = {}
        # The highest version for the last request.
        self.version_max: int | None = None

    def request(
        self,
        partitions: Iterable[tuple[AssignedPartition, Uuid]],
        *,
        bytes_max: int,
        is_short: bool,
    ) -> FetchRequest:
        """For these partitions and no others."""
        settings = self._settings
        request = FetchRequest(
            max_wait_ms=min(settings.fetch_wait_ms_max, _SHORT_WAIT_MS)
            if is_short
            else settings.fetch_wait_ms_max,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=bytes_max,
            isolation_level=settings.isolation,
            rack_id=settings.rack,
        )
        if self._session.is_new:
            self._sent.clear()
        self._asked = {}
        self._by_name = {}
        changes = []
        self.version_max = None
        for partition, topic_id in partitions:
            topic, index = partition.name
            if topic_id == ZERO_UUID:
                # Nodes without topic ids take the name, which then stands for the id.
                topic_id = Uuid(topic.encode())
                self.version_max = _NAMES_VERSION
            key = PartitionKey(topic_id, index)
            self._names[topic_id] = topic
            wanted = FetchPartition(
                partition=index,
                current_leader_epoch=partition.leader_epoch,
                fetch_offset=partition.fetch_position.offset,
                partition_max_bytes=settings.partition_bytes_max,
            )
            self._asked[key] = FetchedFrom(partition, partition.version, partition.fetch_position)
            self._by_name[topic, index] = key
            if self._sent.get(key) != wanted:
                self._sent[key] = wanted
                changes.append((key, wanted))
        for key in [each for each in self._sent if each not in self._asked]:
            del self._sent[key]
            self._session.forget(key)
        self._session.fill(request, changes)
        for asked in request.topics:
            asked.topic = self._names[asked.topic_id]
        for forgotten in request.forgotten_topics_data:
            forgotten.topic = self._names[forgotten.topic_id]
        return request

    def answers(self, response: FetchResponse) -> list[tuple[FetchedFrom, PartitionData]] | None:
        """The partitions of a response; None if the session has to begin again."""
        if not self._session.answered(response):
            return None
        return [
            (asked, data)
            for topic in response.responses
            for data in topic.partitions
            if (asked := self._asked_for(topic, data)) is not None
        ]

    def lost(self) -> None:
        """The last request was not answered."""
        self._session.restart()

    def last_request(self) -> FetchRequest | None:
        """Ends the node's session; None if there is none."""
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1)
        return request if self._session.end(request) else None

    def _asked_for(self, topic: FetchableTopicResponse, data: PartitionData) -> FetchedFrom | None:
        if topic.topic_id != ZERO_UUID:
            return self._asked.get(PartitionKey(Uuid(bytes(topic.topic_id)), data.partition_index))
        key = self._by_name.get((topic.topic, data.partition_index))
        return None if key is None else self._asked.get(key)
