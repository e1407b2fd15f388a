"""The public consumer: reads topics, alone or as a member of a group."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.consuming.consumer_parts import ConsumerParts
from ottla.client.consuming.offset_lookup import OffsetAndTimestamp
from ottla.client.consuming.offset_reset import (
    EARLIEST,
    EARLIEST_TIMESTAMP,
    LATEST,
    LATEST_TIMESTAMP,
    OffsetReset,
)
from ottla.client.consuming.properties import CONSUMER, ConsumerProperties, consumer_settings
from ottla.client.consuming.rebalance_callbacks import RebalanceCallback, RebalanceCallbacks
from ottla.client.consuming.record_queue import ReadPosition
from ottla.client.groups.group_subscription import TopicPattern
from ottla.client.records import ConsumedRecord, ConsumerGroupMetadata, OffsetAndMetadata
from ottla.client.settings import parse_properties
from ottla.model import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa


class Consumer:
    """Reads records, by `async for`, `poll` or `poll_columns`. One task at a time may use it.

    The properties are Kafka's, as a mapping or as keywords with `_` for `.`. Use it with
    `async with`, or call `start` and `close`. It belongs to the event loop in which it is started.
    `TimedOutError` is raised by calls with a timeout, in seconds; without one they take
    `default.api.timeout.ms`.
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        /,
        *,
        seams: ClientSeams | None = None,
        **keywords: Unpack[ConsumerProperties],
    ) -> None:
        seams = seams or ClientSeams.system()
        settings = consumer_settings(
            parse_properties(CONSUMER, properties, keywords, dice=seams.dice)
        )
        self._settings = settings
        self._cluster = ClientCluster(settings.cluster, seams)
        self._parts = ConsumerParts(self._cluster, settings)

    # ---- life cycle

    async def start(self) -> None:
        """Does nothing yet: the consumer connects when it is used."""

    async def close(self, timeout: float = 30.0) -> None:
        """Commits the positions if `enable.auto.commit` is set, calls `on_revoked`, leaves the
        group and closes all connections. Without success within the timeout, the coordinator
        removes the member later."""
        await self._parts.close(timeout)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    # ---- what to read

    async def subscribe(
        self,
        topics: Iterable[str] | str | re.Pattern[str] = (),
        *,
        pattern: str | TopicPattern | None = None,
        on_assigned: RebalanceCallback | None = None,
        on_revoked: RebalanceCallback | None = None,
        on_lost: RebalanceCallback | None = None,
    ) -> None:
        """Joins the group with these topics, in place of any earlier ones, at the next poll.

        `pattern` stands for all topics whose whole names match: a compiled pattern is matched by
        this client, a text by the coordinator in groups of the consumer protocol. The callbacks,
        functions or coroutine functions, get a frozenset of partitions and run in calls of poll.
        """
        if isinstance(topics, re.Pattern):
            pattern, topics = topics, ()
        names = (topics,) if isinstance(topics, str) else tuple(topics)
        callbacks = RebalanceCallbacks(on_assigned, on_revoked, on_lost)
        await self._parts.subscribe(frozenset(names), pattern, callbacks)

    async def unsubscribe(self) -> None:
        """Gives up all partitions, and leaves the group."""
        await self._parts.unsubscribe()

    def assign(self, partitions: Iterable[TopicPartition | tuple[str, int]]) -> None:
        """Reads these partitions and no others, without joining a group. Partitions that are
        assigned already keep their positions."""
        self._parts.assign(frozenset(TopicPartition(*each) for each in partitions))

    def assignment(self) -> frozenset[TopicPartition]:
        return self._parts.assignment.names

    def subscription(self) -> frozenset[str]:
        """The topics that were subscribed to, or that match the pattern."""
        return self._parts.subscribed_topics()

    # ---- records

    async def poll(
        self, timeout: float = 0.0, max_records: int | None = None
    ) -> list[ConsumedRecord]:
        """The next records, at most `max_records` or `max.poll.records`; an empty list if there are
        none within the timeout. The position moves behind them."""
        return await self._parts.reading.poll(timeout, max_records)

    async def poll_columns(
        self, timeout: float = 0.0, max_records: int | None = None
    ) -> pa.RecordBatch | None:
        """Like `poll`, but as an Arrow record batch of one partition, without an object per record:
        topic, partition, offset, timestamp, key, value and headers. Needs `ottla[columns]`."""
        return await self._parts.reading.poll_columns(timeout, max_records)

    def __aiter__(self) -> AsyncIterator[ConsumedRecord]:
        """Records one by one, without end. The position is behind the record that was yielded last,
        so `commit` in the loop includes it."""
        return self._parts.reading.iterate()

    async def next_chunk(self) -> Iterator[ConsumedRecord] | None:
        """For iteration in another thread, which takes the records one by one: see
        `ottla.client.sync`. None when the consumer closes."""
        return await self._parts.reading.next_chunk(is_in_thread=True)

    # ---- offsets of the group

    async def commit(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Commits these offsets, which are those of the next records to read; without any, the
        positions of all assigned partitions. Returns when they are committed. Raises
        CommitFailedError if the partitions were given to another member."""
        group = self._parts.require_group()
        self._parts.reading.settle()
        if offsets is None:
            given = self._parts.commits.positions(self.assignment())
        else:
            given = {
                TopicPartition(*name): OffsetAndMetadata(at) if isinstance(at, int) else at
                for name, at in offsets.items()
            }
        await group.commit(given, deadline=self._deadline(timeout))

    async def committed(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; None where it has nothing."""
        group = self._parts.require_group()
        return await group.committed(_named(partitions), deadline=self._deadline(timeout))

    def group_metadata(self) -> ConsumerGroupMetadata:
        """This member, for `Producer.send_offsets_to_transaction`."""
        return self._parts.identity()

    # ---- positions

    async def position(self, partition: TopicPartition, *, timeout: float | None = None) -> int:
        """The offset of the next record. Waits until it is known."""
        return await self._parts.position(TopicPartition(*partition), self._deadline(timeout))

    def known_position(self, partition: TopicPartition) -> OffsetAndMetadata | None:
        """What a commit would commit now; None while the position is not known."""
        self._parts.reading.settle()
        return self._parts.commits.positions([TopicPartition(*partition)]).get(partition)

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Continues at this offset. With the leader epoch of an OffsetAndMetadata, it is checked
        that the log still has what was before it."""
        if isinstance(offset, int):
            offset = OffsetAndMetadata(offset)
        if offset.offset < 0:
            raise ValueError(f"the offset {offset.offset} is negative")
        position = ReadPosition(offset.offset, offset.leader_epoch)
        self._parts.move([TopicPartition(*partition)], lambda each: each.seek(position))

    def seek_to_beginning(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Continues at the first record of these partitions, or of all that are assigned."""
        self._reset(partitions, EARLIEST)

    def seek_to_end(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Continues behind the last record of these partitions, or of all that are assigned."""
        self._reset(partitions, LATEST)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Returns no records of these partitions until `resume`. They stay assigned."""
        self._parts.pause(_named(partitions), is_paused=True)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self._parts.pause(_named(partitions), is_paused=False)

    def paused(self) -> frozenset[TopicPartition]:
        return frozenset(each.name for each in self._parts.assignment if each.is_paused)

    def lag(self, partition: TopicPartition) -> int | None:
        """The records between the position and the end of the log as last fetched; None if either
        is not known yet."""
        self._parts.reading.settle()
        return self._parts.lag(TopicPartition(*partition))

    def metrics(self) -> dict[str, float]:
        """Counts since the start, and the present lag and memory."""
        self._parts.reading.settle()
        return self._parts.metrics()

    # ---- topics

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset of the first record of each partition."""
        return await self._ends(partitions, EARLIEST_TIMESTAMP, timeout)

    async def end_offsets(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset behind the last record of each partition that this consumer could read."""
        return await self._ends(partitions, LATEST_TIMESTAMP, timeout)

    async def offsets_for_times(
        self, times: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after each time, in milliseconds since 1970; None if there is
        none."""
        if any(time < 0 for time in times.values()):
            raise ValueError("times are milliseconds since 1970")
        wanted = {TopicPartition(*name): time for name, time in times.items()}
        return await self._parts.lookup.find(wanted, deadline=self._deadline(timeout))

    async def partitions_for(
        self, topic: str, *, timeout: float | None = None
    ) -> tuple[TopicPartition, ...]:
        """All partitions of a topic; none if it does not exist."""
        return await self._parts.partitions_for(topic, self._deadline(timeout))

    async def topics(self, *, timeout: float | None = None) -> frozenset[str]:
        """The topics that this client may read."""
        return await self._parts.topics(self._deadline(timeout))

    # ----

    def _reset(self, partitions: Iterable[TopicPartition], reset: OffsetReset) -> None:
        names = _named(partitions) or tuple(self.assignment())
        self._parts.move(names, lambda each: each.start_reset(reset))

    async def _ends(
        self, partitions: Iterable[TopicPartition], time: int, timeout: float | None
    ) -> dict[TopicPartition, int]:
        wanted = dict.fromkeys(_named(partitions), time)
        found = await self._parts.lookup.find(wanted, deadline=self._deadline(timeout))
        return {name: at.offset for name, at in found.items() if at is not None}

    def _deadline(self, timeout: float | None) -> float:
        seconds = self._settings.api_timeout_ms / 1_000 if timeout is None else timeout
        return self._cluster.clock.monotonic() + seconds


def _named(partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(*each) for each in partitions)
