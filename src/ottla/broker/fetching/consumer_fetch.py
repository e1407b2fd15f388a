"""Fetch requests of consumers: committed records, up to the last stable offset if requested.

Bytes are shared fairly: each partition gets at most its own maximum until the request's maximum is
used up; in a session, partitions that returned records are served last next time. The first batch
is returned even if it is larger than any maximum, so that the consumer makes progress.

A response that would exceed the client's quota is replaced with an empty one, and the client is
throttled. So a Fetch returns no more than the quota allows for all windows but one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.fetching.fetch_session import FetchSession
from ottla.broker.fetching.read_replicas import preferred_read_replica
from ottla.broker.fetching.session_partition import SessionPartition, wanted_of
from ottla.broker.fetching.warm_up import WarmUp, records_to_send
from ottla.broker.network.handling import RequestContext
from ottla.broker.network.leader_hints import LeaderHints
from ottla.broker.network.pending import Pending
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import KafkaError, TopicPartition
from ottla.replication.partition import Isolation, Partition, PartitionRead
from ottla.replication.partitions import Partitions
from ottla.replication.topic_traffic import TopicTraffic
from ottla.replication.visible_read import READ_BYTES_MAX, ColdReadError, visible_read
from ottla.runtime.clock import Clock
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.storage.files.file_slice import FileSlice
from ottla.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

_INVALID_OFFSET = -1
_TOPIC_ID_VERSION = 13
# Consumers may read from followers from this version on (KIP-392).
_FOLLOWER_VERSION = 11
# What a response has besides records, for quotas: itself, and for each partition.
_RESPONSE_BYTES = 20
_PARTITION_BYTES = 60


class ConsumerFetches:
    """Handles the consumer fetches of a node. Owned by its loop."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        failures: StorageFailures,
        warm_up: WarmUp,
        clock: Clock,
    ) -> None:
        self.cluster = cluster
        self.partitions = partitions
        self.failures = failures
        self.clock = clock
        self._warm_up = warm_up

    def fetch(
        self, context: RequestContext, request: FetchRequest, session: FetchSession | None
    ) -> FetchResponse | Pending:
        of_client = _Reading if context.rights.is_unrestricted else _RestrictedReading
        return self.respond(of_client(self, context, request, session))

    def respond(self, reading: _Reading) -> FetchResponse | Pending:
        found = reading.read()
        if found.cold and not reading.has_warmed:
            reading.has_warmed = True
            return self._warm_up.then(found.cold, lambda: self.respond(reading))
        if found.size >= reading.min_bytes or found.is_urgent or not reading.can_wait:
            return self._warm_up.when_warm(found.slices, reading.response(found))
        return _Waiting(reading, found, missing=reading.min_bytes - found.size).pending


class _Answer(NamedTuple):
    """The result for one partition, encoded as a message only when it is sent."""

    wanted: SessionPartition
    read: PartitionRead | None
    traffic: TopicTraffic | None = None
    error: int = 0
    preferred_read_replica: int = -1


class _Found:
    """The results of reading all partitions of a fetch once."""

    __slots__ = (
        "answers",
        "cold",
        "delayed_left",
        "is_urgent",
        "partitions",
        "size",
        "slices",
        "spent",
    )

    def __init__(self) -> None:
        self.answers: list[_Answer] = []
        self.partitions: list[Partition] = []
        self.slices: list[FileSlice] = []
        # What has to be in memory before held records can be left out.
        self.cold: list[FileSlice] = []
        self.size = 0
        # What was read, with the held records that were left out.
        self.spent = 0
        self.delayed_left = READ_BYTES_MAX
        # Whether to respond at once: an error, a preferred read replica, or more to read.
        self.is_urgent = False


class _Reading:
    """A fetch request. Reads its partitions at once and, if it waits, again later."""

    __slots__ = (
        "_context",
        "_is_by_id",
        "_isolation",
        "_reads_followers",
        "bytes_max",
        "has_warmed",
        "min_bytes",
        "node",
        "request",
        "session",
        "wanted",
    )

    def __init__(
        self,
        node: ConsumerFetches,
        context: RequestContext,
        request: FetchRequest,
        session: FetchSession | None,
    ) -> None:
        self.node = node
        self.request = request
        self.session = session
        self.has_warmed = False
        self._context = context
        self._is_by_id = context.api_version >= _TOPIC_ID_VERSION
        self._reads_followers = context.api_version >= _FOLLOWER_VERSION
        self._isolation = Isolation(request.isolation_level & 1)
        self.wanted = wanted_of(request) if session is None else list(session.wanted.values())
        self.bytes_max = min(request.max_bytes, node.cluster.config.fetch_max_bytes)
        quotas = context.quotas
        if quotas is not None and quotas.is_enabled:
            allowed = max(quotas.fetch_bytes_max - self._size(0), 1)
            self.bytes_max = int(min(self.bytes_max, allowed))
        self.min_bytes = min(request.min_bytes, self.bytes_max)

    @property
    def can_wait(self) -> bool:
        return self.request.max_wait_ms > 0 and bool(self.wanted)

    def read(self) -> _Found:
        found = _Found()
        for wanted in self.wanted:
            left = max(self.bytes_max - found.spent, 0)
            try:
                answer = self._read_partition(wanted, left, found)
            except KafkaError as error:
                answer = _Answer(wanted, None, error=error.code)
            found.answers.append(answer)
            if answer.read is None or answer.preferred_read_replica >= 0:
                found.is_urgent = True
            elif answer.read.records is not None:
                found.size += answer.read.records.size
        if found.delayed_left <= 0 or found.size < self.bytes_max <= found.spent:
            found.is_urgent = True
        return found

    def _read_partition(self, wanted: SessionPartition, bytes_left: int, found: _Found) -> _Answer:
        requested, partitions = wanted.request, self.node.partitions
        if self._is_by_id:
            partition = partitions.by_id(wanted.topic_id, requested.partition)
        else:
            partition = partitions.by_name(wanted.topic, requested.partition)
        traffic = partition.traffic
        traffic.fetches += 1
        # Until the read has succeeded.
        traffic.failed_fetches += 1
        partition.check_leader_epoch(requested.current_leader_epoch)
        if not partition.is_leader and not self._reads_followers:
            raise partition.not_leader()
        found.partitions.append(partition)
        bytes_max = min(requested.partition_max_bytes, bytes_left)
        if self.request.rack_id and partition.is_leader:
            replica = preferred_read_replica(
                self.node.cluster,
                partition,
                requested.fetch_offset,
                rack=self.request.rack_id,
                now_ms=int(self.node.clock.monotonic() * 1_000),
            )
            if replica is not None:
                read = self._look(partition, requested.fetch_offset, 0, found, min_one_batch=False)
                traffic.failed_fetches -= 1
                return _Answer(wanted, read, traffic, preferred_read_replica=replica)
        min_one_batch = not found.size
        read = self._look(
            partition, requested.fetch_offset, bytes_max, found, min_one_batch=min_one_batch
        )
        traffic.failed_fetches -= 1
        return _Answer(wanted, read, traffic)

    def _look(
        self,
        partition: Partition,
        offset: int,
        bytes_max: int,
        found: _Found,
        *,
        min_one_batch: bool,
    ) -> PartitionRead:
        log = partition.log
        delays = log is not None and log.config.delays
        if delays:
            # A first batch that is larger is read, too: it might never be, otherwise.
            min_one_batch |= bytes_max > found.delayed_left == READ_BYTES_MAX
            bytes_max = max(min(bytes_max, found.delayed_left), 0)
        with self.node.failures.translated(partition):
            read = partition.read(
                offset,
                bytes_max=bytes_max,
                isolation=self._isolation,
                min_one_batch=min_one_batch,
            )
            size = 0 if read.records is None else read.records.size
            found.spent += size
            if not delays:
                return read
            found.delayed_left -= size
            try:
                return visible_read(read, may_wait=self.has_warmed)
            except ColdReadError as cold:
                found.cold.append(cold.records)
                return read._replace(records=None)

    def response(self, found: _Found) -> FetchResponse:
        throttle_ms = 0
        quotas = self._context.quotas
        if quotas is not None and quotas.is_enabled:
            is_admitted, throttle_ms = quotas.admit_fetch(self._size(found.size))
            if not is_admitted:
                return self._throttled(throttle_ms)
        session = self.session
        answers = [(each.wanted, _message(each, found)) for each in found.answers]
        if session is None:
            response = FetchResponse(responses=_by_topic(answers))
        else:
            is_first = self.request.session_epoch == 0
            changed = []
            for wanted, answer in answers:
                if wanted.has_changes(answer) or is_first:
                    changed.append((wanted, answer))
                if answer.records and wanted.key in session.wanted:
                    session.serve_last(wanted)
            response = FetchResponse(session_id=session.id, responses=_by_topic(changed))
        response.throttle_time_ms = throttle_ms
        if found.is_urgent:
            self._add_hints(response)
        return response

    def _size(self, records_size: int) -> int:
        """Roughly that of the response."""
        named = len(self.wanted) if self.session is None else 0
        return _RESPONSE_BYTES + named * _PARTITION_BYTES + records_size

    def _throttled(self, throttle_ms: int) -> FetchResponse:
        """The session goes on, with the offsets that the client knows. Without a response to its
        first request, a client opens another session."""
        session = self.session
        session_id = 0 if session is None or self.request.session_epoch == 0 else session.id
        return FetchResponse(session_id=session_id, throttle_time_ms=throttle_ms)

    def _add_hints(self, response: FetchResponse) -> None:
        hints = LeaderHints(
            self.node.cluster, self._context.listener, LeaderIdAndEpoch, NodeEndpoint
        )
        for topic in response.responses:
            for answer in topic.partitions:
                name = TopicPartition(topic.topic, answer.partition_index)
                answer.current_leader = hints.of(answer.error_code, name, topic.topic_id)
        response.node_endpoints = hints.endpoints()


class _RestrictedReading(_Reading):
    """A fetch of a client that may not read all topics. Checked at each read."""

    __slots__ = ()

    def _read_partition(self, wanted: SessionPartition, bytes_left: int, found: _Found) -> _Answer:
        name = wanted.topic
        if self._is_by_id:
            topic = self.node.cluster.image.topics.by_id.get(wanted.topic_id)
            if topic is None:
                return super()._read_partition(wanted, bytes_left, found)
            name = topic.name
        self._context.rights.require(AclOperation.READ, ResourceType.TOPIC, name)
        return super()._read_partition(wanted, bytes_left, found)


def _message(answer: _Answer, found: _Found) -> PartitionData:
    index, read = answer.wanted.request.partition, answer.read
    if read is None:
        return PartitionData(
            partition_index=index,
            error_code=answer.error,
            high_watermark=_INVALID_OFFSET,
            last_stable_offset=_INVALID_OFFSET,
            records=b"",
        )
    aborted, records = read.aborted_transactions, read.records
    if records is not None and answer.traffic is not None:
        answer.traffic.sent_bytes += records.size
        answer.traffic.sent_records += records.offset_count
    return PartitionData(
        partition_index=index,
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start_offset,
        aborted_transactions=None
        if aborted is None
        else [
            AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in aborted
        ],
        preferred_read_replica=answer.preferred_read_replica,
        records=b"" if records is None else records_to_send(records, found.slices),
    )


class _Waiting:
    """A fetch that found less than `min_bytes`. Reads again when enough is committed, or when
    `max_wait_ms` is over."""

    __slots__ = ("_missing", "_partitions", "_reading", "_timer", "pending")

    def __init__(self, reading: _Reading, found: _Found, *, missing: int) -> None:
        self.pending = Pending(on_abandoned=self._stop)
        self._reading = reading
        self._missing = missing
        self._partitions = found.partitions
        for partition in self._partitions:
            partition.when_committed(self, self._committed)
        seconds = reading.request.max_wait_ms / 1_000
        self._timer = reading.node.clock.call_later(seconds, self._time_is_up)

    def _committed(self, size: int) -> None:
        self._missing -= size
        if self._missing > 0 or self._is_answered():
            return
        found = self._reading.read()
        if self._is_answered():
            # The read hit a disk error, which took the partition offline and resolved this fetch.
            return
        self._missing = self._reading.min_bytes - found.size
        if self._missing <= 0 or found.is_urgent:
            self._stop()
            self.pending.resolve(self._reading.response(found))

    def _is_answered(self) -> bool:
        return self.pending.response is not None

    def _time_is_up(self) -> None:
        self._stop()
        self.pending.resolve(self._reading.response(self._reading.read()))

    def _stop(self) -> None:
        self._timer.cancel()
        for partition in self._partitions:
            partition.forget(self)


def _by_topic(
    answers: Iterable[tuple[SessionPartition, PartitionData]],
) -> list[FetchableTopicResponse]:
    """Groups consecutive partitions of one topic, and keeps the order in which they were read."""
    topics: list[FetchableTopicResponse] = []
    for wanted, answer in answers:
        last = topics[-1] if topics else None
        if last is None or last.topic != wanted.topic or last.topic_id != wanted.topic_id:
            last = FetchableTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id)
            topics.append(last)
        last.partitions.append(answer)
    return topics
