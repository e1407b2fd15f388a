"""ShareFetch: acknowledges earlier records, locks new ones, and waits for them if there are none.

The response is sent when the acknowledgements are stored and there are records, or the time is up.
A request with acknowledgements does not wait for records: its acknowledgements would wait with it.
Partitions that had records are served last the next time.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext
from ottla.broker.network.leader_hints import LeaderHints
from ottla.broker.network.pending import Pending
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.sharing.acknowledging import (
    AcknowledgeResults,
    Acknowledging,
    acknowledgements_of,
)
from ottla.broker.sharing.group_delivery import GroupDeliveries
from ottla.broker.sharing.share_metrics import ShareMetrics
from ottla.broker.sharing.share_reading import ShareRead, look, read_shared
from ottla.broker.sharing.share_sessions import (
    FINAL_EPOCH,
    FIRST_EPOCH,
    ShareSession,
    ShareSessions,
    TopicIndex,
)
from ottla.broker.sharing.shared_partition import SharedPartition
from ottla.broker.sharing.shared_partitions import SharedPartitions
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.visible_read import ColdReadError
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.tasks import Tasks
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.shares.delivery import Wish
from ottla.shares.retry_delay import RETRY_DELAY_MS_MAX, put_delay
from ottla.shares.share_key import ShareKey
from ottla.wire.messages import share_fetch as wire
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ottla.storage.files.file_slice import FileSlice

_STRICT_MODE: Final = 1


class ShareFetches:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self,
        cluster: ClusterView,
        sessions: ShareSessions,
        shared: SharedPartitions,
        acknowledging: Acknowledging,
        deliveries: GroupDeliveries,
        failures: StorageFailures,
        metrics: ShareMetrics,
        clock: Clock,
        tasks: Tasks,
        background: Background,
    ) -> None:
        self.cluster = cluster
        self.sessions = sessions
        self.shared = shared
        self.acknowledging = acknowledging
        self.deliveries = deliveries
        self.failures = failures
        self.metrics = metrics
        self.clock = clock
        self.tasks = tasks
        self.background = background

    def fetch(self, context: RequestContext, request: wire.ShareFetchRequest) -> Message | Pending:
        session = self._enter(context, request)
        return _ShareFetch(self, context, request, session).pending.answer

    def _enter(self, context: RequestContext, request: wire.ShareFetchRequest) -> ShareSession:
        group_id, member_id = request.group_id or "", request.member_id or ""
        wanted = [
            TopicIndex(topic.topic_id, partition.partition_index)
            for topic in request.topics
            for partition in topic.partitions
        ]
        if request.share_session_epoch == FIRST_EPOCH:
            if acknowledgements_of(request.topics):
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST,
                    "the first fetch of a share session cannot acknowledge records",
                )
            session = self.sessions.begin(group_id, member_id, context.connection)
        else:
            session = self.sessions.require(group_id, member_id, request.share_session_epoch)
        if request.share_session_epoch != FINAL_EPOCH:
            forgotten = (
                TopicIndex(topic.topic_id, number)
                for topic in request.forgotten_topics_data
                for number in topic.partitions
            )
            self.sessions.update(session, wanted, forgotten)
        return session


class _ShareFetch:
    """One request. A `ShareWaiter` of its partitions."""

    def __init__(
        self,
        node: ShareFetches,
        context: RequestContext,
        request: wire.ShareFetchRequest,
        session: ShareSession,
    ) -> None:
        self.pending = Pending(on_abandoned=self._stop)
        self._node = node
        self._context = context
        self._request = request
        self._session = session
        self._delivery = node.deliveries.of(session.group_id)
        self._found: dict[TopicIndex, ShareRead] = {}
        self._errors: dict[TopicIndex, KafkaError] = {}
        self._acknowledged: AcknowledgeResults | None = None
        self._waiting_for: list[SharedPartition] = []
        self._timer: Timer | None = None
        self._is_warming = False
        # The partitions of this request; the session's may change while it waits.
        self._wanted = list(session.partitions)
        self._is_final = request.share_session_epoch == FINAL_EPOCH
        self._is_over = self._is_final or request.is_renew_ack
        acknowledgements = acknowledgements_of(request.topics)
        may_wait = not acknowledgements and request.max_wait_ms > 0
        node.acknowledging.acknowledge(
            context,
            session.group_id,
            session.member_id,
            acknowledgements,
            is_renewal=request.is_renew_ack,
            finished=self._all_acknowledged,
        )
        if self._is_over or request.max_records <= 0 or request.max_bytes <= 0:
            self._is_over = True
        else:
            self._read(min_bytes=request.min_bytes if may_wait else 0)
            if may_wait and not self._is_over and self.pending.response is None:
                seconds = request.max_wait_ms / 1_000
                self._timer = node.clock.call_later(seconds, self._time_is_up)
            elif not self._is_warming:
                self._is_over = True
        self._maybe_respond()

    # ---- acknowledgements

    def _all_acknowledged(self, results: AcknowledgeResults) -> None:
        self._acknowledged = results
        self._maybe_respond()

    # ---- records

    def wake(self) -> None:
        """There may be records, or a partition was loaded or closed."""
        if not self._is_over and not self._is_warming:
            self._read(min_bytes=self._request.min_bytes)
            self._maybe_respond()

    def _time_is_up(self) -> None:
        self._timer = None
        if not self._is_over and not self._is_warming:
            self._read(min_bytes=0)
        self._is_over = True
        self._maybe_respond()

    def _read(self, *, min_bytes: int) -> None:
        """Locks what there is. The fetch is over when there were records or errors."""
        self._leave()
        shared = self._loaded()
        if min_bytes > 1 and self._available_bytes(shared.values()) < min_bytes:
            shared_now: Iterable[TopicIndex] = ()
        else:
            shared_now = shared
        request, now = self._request, self._node.clock.monotonic() * 1_000
        records_left = request.max_records
        bytes_left = min(request.max_bytes, self._node.cluster.config.fetch_max_bytes)
        for index in shared_now:
            if records_left <= 0 or bytes_left <= 0:
                break
            try:
                found = read_shared(
                    shared[index],
                    self._wish(shared[index], records_left),
                    self._delivery,
                    self._node.failures,
                    bytes_max=bytes_left,
                    now=now,
                )
            except KafkaError as error:
                self._errors[index] = error
                continue
            except ColdReadError as cold:
                self._warm(cold.records)
                break
            if found is not None:
                self._found[index] = found
                records_left -= found.record_count
                bytes_left -= len(found.records)
                self._node.metrics.acquired(found.record_count)
                shared[index].settle()
                self._session.serve_last(index)
        if self._found or self._errors:
            self._is_over = True
        elif not self._is_warming:
            self._wait(shared.values())

    def _wish(self, shared: SharedPartition, records_left: int) -> Wish:
        settings = self._delivery.settings
        if settings.is_fair:
            members = max(self._node.sessions.count_of(self._session.group_id), 1)
            part = max(settings.locks_max // members, 1)
            held = shared.machine.held_by(self._session.member_id)
            records_left = min(records_left, part - held)
        return Wish(
            self._session.member_id,
            records_left,
            batch_size=max(self._request.batch_size, 1),
            is_strict=settings.is_fair or self._request.share_acquire_mode == _STRICT_MODE,
        )

    def _loaded(self) -> dict[TopicIndex, SharedPartition]:
        """The partitions that can be read; those that are being loaded are waited for."""
        found = {}
        for index in self._wanted:
            if index in self._errors:
                continue
            try:
                topic = self._node.cluster.image.topics.by_id.get(index.topic_id)
                if topic is not None:
                    self._context.rights.require(AclOperation.READ, ResourceType.TOPIC, topic.name)
                key = ShareKey(self._session.group_id, index.topic_id, index.partition)
                shared = self._node.shared.get_or_load(key)
            except KafkaError as error:
                self._errors[index] = error
                continue
            if shared.is_active:
                found[index] = shared
            elif shared.error is not None:
                self._errors[index] = shared.error
            else:
                self._wait([shared])
        return found

    def _available_bytes(self, shared: Iterable[SharedPartition]) -> int:
        size, now = 0, self._node.clock.monotonic() * 1_000
        for each in shared:
            offset = each.machine.next_offset(now)
            try:
                records = look(
                    each,
                    self._delivery,
                    self._node.failures,
                    offset,
                    bytes_max=self._request.max_bytes,
                ).records
            except KafkaError:
                # The read itself reports it.
                return self._request.min_bytes
            size += 0 if records is None else records.size
        return size

    def _warm(self, records: FileSlice) -> None:
        """Reads records into the page cache, and then again."""
        node = self._node
        if node.tasks.is_closed or self._is_warming:
            return
        self._is_warming = True
        node.tasks.start("warm up share fetch", self._read_warm(records))

    async def _read_warm(self, records: FileSlice) -> None:
        # A failed read fails again, and is handled there.
        with suppress(OSError):
            await self._node.background.run(records.warm)
        self._is_warming = False
        if self.pending.response is not None:
            return
        # It may be over by now: the time is up, or another partition had records.
        if not self._is_over:
            self._read(min_bytes=0)
            self._is_over |= self._timer is None
        self._maybe_respond()

    # ---- waiting

    def _wait(self, shared: Iterable[SharedPartition]) -> None:
        for each in shared:
            each.wait(self)
            self._waiting_for.append(each)

    def _leave(self) -> None:
        for each in self._waiting_for:
            each.stop_waiting(self)
        self._waiting_for.clear()

    def _stop(self) -> None:
        self._is_over = True
        self._leave()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # ---- the response

    def _maybe_respond(self) -> None:
        is_ready = self._is_over and not self._is_warming and self._acknowledged is not None
        if not is_ready or self.pending.response is not None:
            return
        self._stop()
        if self._is_final:
            self._node.sessions.end(self._session)
        self.pending.resolve(self._response())

    def _response(self) -> wire.ShareFetchResponse:
        assert self._acknowledged is not None
        node, context = self._node, self._context
        hints = LeaderHints(
            node.cluster, context.listener, wire.LeaderIdAndEpoch, wire.NodeEndpoint
        )
        topics: dict[bytes, wire.ShareFetchableTopicResponse] = {}
        indexes = dict.fromkeys([*self._found, *self._errors, *self._acknowledged])
        if self._request.share_session_epoch == FIRST_EPOCH:
            indexes |= dict.fromkeys(self._wanted)
        for index in indexes:
            topic = topics.get(index.topic_id)
            if topic is None:
                topic = topics[index.topic_id] = wire.ShareFetchableTopicResponse(
                    topic_id=index.topic_id
                )
            topic.partitions.append(self._partition(index, hints))
        response = wire.ShareFetchResponse(
            acquisition_lock_timeout_ms=self._delivery.settings.lock_ms,
            responses=list(topics.values()),
            node_endpoints=hints.endpoints(),
        )
        put_delay(response, RETRY_DELAY_MS_MAX)
        return response

    def _partition(
        self, index: TopicIndex, hints: LeaderHints[wire.LeaderIdAndEpoch, wire.NodeEndpoint]
    ) -> wire.PartitionData:
        answer = wire.PartitionData(partition_index=index.partition, records=b"")
        found, error = self._found.get(index), self._errors.get(index)
        if found is not None:
            answer.records = found.records
            answer.acquired_records = [
                wire.AcquiredRecords(
                    first_offset=each.first,
                    last_offset=each.last,
                    delivery_count=each.delivery_count,
                )
                for each in found.acquired
            ]
        if error is not None:
            answer.error_code, answer.error_message = error.code, error.message
        assert self._acknowledged is not None
        refused = self._acknowledged.get(index)
        if refused is not None:
            answer.acknowledge_error_code = refused.code
            answer.acknowledge_error_message = refused.message
        name = TopicPartition("", index.partition)
        code = answer.error_code or answer.acknowledge_error_code
        leader = hints.of(code, name, index.topic_id)
        if leader is not None:
            answer.current_leader = leader
        return answer
