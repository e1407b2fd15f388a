"""What the gateway needs of the clients with which it acts for a caller.

`ottla.client` has it; tests give fakes. An error is a ClientError or a KafkaError.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ottla.client.records import ConsumedRecord, OffsetAndMetadata, RecordMetadata
from ottla.model import TopicPartition
from ottla.web.gateway.messages.bodies import OutgoingMessage


@dataclass(frozen=True, slots=True)
class ConsumerOptions:
    """How a session's consumer reads. `client_id` says which gateway has it."""

    group: str
    client_id: str
    auto_offset_reset: str = "earliest"
    isolation_level: str = "read_uncommitted"
    session_timeout_s: float = 10.0


class PartitionReplica(NamedTuple):
    broker: int
    is_leader: bool
    is_in_sync: bool


class PartitionInfo(NamedTuple):
    """`leader` is -1 while there is none."""

    partition: int
    leader: int
    replicas: tuple[PartitionReplica, ...]


class SessionConsumer(Protocol):
    """A member of a group, or a consumer whose partitions are assigned by hand."""

    async def close(self) -> None: ...

    async def subscribe(self, topics: Sequence[str]) -> None: ...

    async def subscribe_pattern(self, pattern: str) -> None: ...

    async def assign(self, partitions: Sequence[TopicPartition]) -> None: ...

    async def unsubscribe(self) -> None: ...

    def subscription(self) -> list[str]: ...

    def assignment(self) -> list[TopicPartition]: ...

    def is_placed(self) -> bool:
        """Whether the group has decided which partitions it reads, if any, since it subscribed."""

    async def poll(
        self, *, max_records: int, max_bytes: int, wait_s: float
    ) -> Sequence[ConsumedRecord]: ...

    async def tend(self) -> None:
        """Takes part in rebalances of the group while no request polls. Loses no message."""

    async def seek(self, partition: TopicPartition, offset: int) -> None: ...

    async def seek_to_beginning(self, partitions: Sequence[TopicPartition]) -> None: ...

    async def seek_to_end(self, partitions: Sequence[TopicPartition]) -> None: ...

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None: ...

    async def committed(
        self, partitions: Sequence[TopicPartition]
    ) -> Mapping[TopicPartition, OffsetAndMetadata | None]: ...


class MessageProducer(Protocol):
    async def send(self, topic: str, message: OutgoingMessage) -> Awaitable[RecordMetadata]:
        """Adds the message to a batch, in the order of the calls per partition. Awaiting the result
        waits for the acknowledgement. Raises BufferFullError if it cannot be added soon."""

    def knows(self, topic: str) -> bool:
        """Whether `send` can be called without `partition_count` before."""

    async def partition_count(self, topic: str) -> int:
        """Raises UnknownTopicOrPartitionError."""

    async def close(self) -> None: ...


class ClusterReader(Protocol):
    """What can be read about topics and groups."""

    async def topics(self) -> list[str]: ...

    async def partitions(self, topic: str) -> list[PartitionInfo]: ...

    async def configs(self, topic: str) -> dict[str, str]: ...

    async def offsets(self, partition: TopicPartition) -> tuple[int, int]:
        """The first offset, and that of the next message."""

    async def brokers(self) -> list[int]: ...

    async def member_client_ids(self, group: str) -> list[str]:
        """Of the members that the group has now; none if there is no such group."""

    async def close(self) -> None: ...


class ClientFactory(Protocol):
    """Makes the clients of one caller."""

    async def start_producer(self) -> MessageProducer: ...

    async def start_consumer(self, options: ConsumerOptions) -> SessionConsumer: ...

    async def start_reader(self) -> ClusterReader:
        """Connects: raises RefusedConnectionError if the cluster refuses the caller."""
