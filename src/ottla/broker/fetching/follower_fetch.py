"""Fetch requests of followers: all records of the log, committed or not.

A follower fetches thousands of partitions repeatedly, and few of them have changed. So partitions
notify the follower's session of new records, a new high watermark or a new leader. A fetch reads
only those partitions and the ones that the request names. For all others, the follower is known to
be caught up.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from ottla.broker.fetching.fetch_session import FetchSession
from ottla.broker.fetching.follower_changes import FollowerChanges
from ottla.broker.fetching.session_partition import SessionPartition, wanted_of
from ottla.broker.fetching.warm_up import WarmUp, records_to_send
from ottla.broker.network.pending import Pending
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import KafkaError, Uuid
from ottla.replication.partition import FetchingFollower, Partition, PartitionRead
from ottla.replication.partitions import Partitions
from ottla.replication.throttle import ReplicationThrottle
from ottla.runtime.clock import Clock
from ottla.storage.files.file_slice import FileSlice
from ottla.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

_INVALID_OFFSET: Final = -1


class FollowerFetches:
    """Handles the follower fetches of a node. Owned by its loop."""

    def __init__(
        self,
        partitions: Partitions,
        throttle: ReplicationThrottle,
        failures: StorageFailures,
        warm_up: WarmUp,
        clock: Clock,
    ) -> None:
        self.partitions = partitions
        self.throttle = throttle
        self.failures = failures
        self.clock = clock
        self._warm_up = warm_up

    def fetch(
        self, request: FetchRequest, session: FetchSession | None, follower: FetchingFollower
    ) -> FetchResponse | Pending:
        if session is None:
            changes = FollowerChanges({each.key: each for each in wanted_of(request)})
            changes.look_at(changes.wanted.values())
        else:
            changes = session.follower_changes or FollowerChanges(session.wanted)
            session.follower_changes = changes
            changes.look_at(wanted_of(request))
        reading = _Reading(self, request, session, follower, changes)
        reading.record_positions(now_ms=int(self.clock.monotonic() * 1_000))
        response = reading.look()
        if reading.is_enough(response) or not request.max_wait_ms:
            return self._warm_up.when_warm(reading.slices, response)
        return _Waiting(reading).pending


class _Reading:
    """One request. Reads its partitions on arrival and, if it waits, when partitions changed."""

    __slots__ = (
        "_is_urgent",
        "changes",
        "follower",
        "node",
        "request",
        "session",
        "size",
        "slices",
    )

    def __init__(
        self,
        node: FollowerFetches,
        request: FetchRequest,
        session: FetchSession | None,
        follower: FetchingFollower,
        changes: FollowerChanges,
    ) -> None:
        self.node = node
        self.request = request
        self.session = session
        self.follower = follower
        self.changes = changes
        self.size = 0
        self.slices: list[FileSlice] = []
        # Whether a partition has an error, or the follower's log diverges from the leader's.
        self._is_urgent = False

    def is_enough(self, response: FetchResponse) -> bool:
        """Whether to respond without waiting for more. In a session, any named partition is enough.
        Without one, a response names all partitions, so only bytes or errors count."""
        if self.size >= self.request.min_bytes or self._is_urgent:
            return True
        return self.session is not None and bool(response.responses)

    def watch(self) -> None:
        """Subscribes to the changes of every partition."""
        for key, wanted in self.changes.wanted.items():
            with suppress(KafkaError):
                partition = self.node.partitions.by_id(wanted.topic_id, wanted.request.partition)
                self.changes.watch(key, partition)

    def record_positions(self, *, now_ms: int) -> None:
        """Records the follower's fetch offsets. Called once, when the request arrives."""
        for key in list(self.changes.changed):
            wanted = self.changes.wanted.get(key)
            if wanted is not None:
                # `look` gets the same error and puts it into the response.
                with suppress(KafkaError):
                    requested = wanted.request
                    partition = self.node.partitions.by_id(wanted.topic_id, requested.partition)
                    partition.record_follower_fetch(self.follower, requested, now_ms=now_ms)

    def look(self) -> FetchResponse:
        """Reads the changed partitions and returns the response."""
        if self.session is None:
            self.changes.look_at(self.changes.wanted.values())
        self.size = 0
        self.slices.clear()
        changed, self.changes.changed = self.changes.changed, {}
        left = self.request.max_bytes
        topics: dict[Uuid, FetchableTopicResponse] = {}
        is_first = self.session is None or self.request.session_epoch == 0
        for key in changed:
            wanted = self.changes.wanted.get(key)
            if wanted is None:
                continue
            answer = self._answer(wanted, left)
            size = len(answer.records or b"")
            if answer.error_code or answer.diverging_epoch is not None:
                self._is_urgent = True
            left = max(left - size, 0)
            self.size += size
            if size == 0 and left == 0:
                # The response is full and the partition may have records: read it again.
                self.changes.changed[key] = None
            if wanted.has_changes(answer) or is_first:
                topic = topics.get(wanted.topic_id)
                if topic is None:
                    topic = FetchableTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id)
                    topics[wanted.topic_id] = topic
                topic.partitions.append(answer)
        session_id = 0 if self.session is None else self.session.id
        return FetchResponse(session_id=session_id, responses=list(topics.values()))

    def _answer(self, wanted: SessionPartition, bytes_left: int) -> PartitionData:
        requested = wanted.request
        try:
            partition = self.node.partitions.by_id(wanted.topic_id, requested.partition)
            if self.session is not None:
                self.changes.watch(wanted.key, partition)
            read = self._read(partition, wanted, bytes_left)
        except KafkaError as error:
            return PartitionData(
                partition_index=requested.partition,
                error_code=error.code,
                high_watermark=_INVALID_OFFSET,
                records=b"",
            )
        diverging = read.diverging_epoch
        return PartitionData(
            partition_index=requested.partition,
            high_watermark=read.high_watermark,
            last_stable_offset=read.last_stable_offset,
            log_start_offset=read.log_start_offset,
            aborted_transactions=None,
            diverging_epoch=None
            if diverging is None
            else EpochEndOffset(epoch=diverging.epoch, end_offset=diverging.end_offset),
            records=b"" if read.records is None else records_to_send(read.records, self.slices),
        )

    def _read(
        self, partition: Partition, wanted: SessionPartition, bytes_left: int
    ) -> PartitionRead:
        throttle = self.node.throttle
        is_held_back = (
            throttle.is_exceeded(partition) and self.follower.node_id not in partition.isr
        )
        if is_held_back:
            # Nothing notifies when the throttle ends, so the next fetch reads it again.
            self.changes.changed[wanted.key] = None
        requested = wanted.request
        with self.node.failures.translated(partition):
            read = partition.read_for_follower(
                self.follower,
                requested,
                bytes_max=0 if is_held_back else min(requested.partition_max_bytes, bytes_left),
                min_one_batch=not self.size and not is_held_back,
            )
        if read.records is not None:
            throttle.record(partition, read.records.size)
        return read


class _Waiting:
    """A follower's fetch that found no changes. Responds at the first change, or when `max_wait_ms`
    is over."""

    __slots__ = ("_is_due", "_reading", "_timer", "pending")

    def __init__(self, reading: _Reading) -> None:
        self.pending = Pending(on_abandoned=self._stop)
        self._reading = reading
        self._is_due = False
        reading.changes.waiting = self
        if reading.session is None:
            reading.watch()
        seconds = reading.request.max_wait_ms / 1_000
        self._timer = reading.node.clock.call_later(seconds, self._time_is_up)

    def notify_changed(self) -> None:
        """Responds after this turn of the loop, to include all changes of the turn."""
        if not self._is_due:
            self._is_due = True
            self._reading.node.clock.call_later(0, self._answer)

    def _answer(self) -> None:
        self._is_due = False
        if self.pending.response is not None or self._reading.changes.waiting is not self:
            return
        response = self._reading.look()
        if self._reading.is_enough(response):
            self._stop()
            self.pending.resolve(response)

    def _time_is_up(self) -> None:
        self._stop()
        self.pending.resolve(self._reading.look())

    def _stop(self) -> None:
        self._timer.cancel()
        self._reading.changes.waiting = None
        if self._reading.session is None:
            self._reading.changes.close()
