"""The requests of a share consumer: one at a time to each node, each with acknowledgements.

Records are fetched only while the application polls and none are left: they are locked from the
moment at which the broker sends them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, Lane, PartitionLeader
from ottla.client.cluster.retries import STALE_METADATA, final_error, public_error
from ottla.client.errors import ClientError
from ottla.client.sharing.acknowledgements import AckRuns
from ottla.client.sharing.decoding import SharedDecoder
from ottla.client.sharing.errors import share_error
from ottla.client.sharing.lease import Lease
from ottla.client.sharing.leases import Leases
from ottla.client.sharing.membership import ShareMembership
from ottla.client.sharing.metrics import ShareConsumerMetrics
from ottla.client.sharing.node_session import NodeShareSession
from ottla.client.sharing.outcomes import AcknowledgementOutcomes
from ottla.client.sharing.properties import ShareConsumerSettings
from ottla.model import ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.shares.delivery import Acquired
from ottla.shares.retry_delay import delay_of
from ottla.wire.messages import share_acknowledge as ack_wire
from ottla.wire.messages import share_fetch as fetch_wire

_log = logging.getLogger(__name__)

# While the application has records of a node, their acknowledgements must not wait long for the
# response to a fetch; nor may one node without records keep others from being asked.
_SHORT_WAIT_MS: Final = 50
_SESSION_LOST: Final = frozenset(
    {ErrorCode.SHARE_SESSION_NOT_FOUND, ErrorCode.INVALID_SHARE_SESSION_EPOCH}
)
# The broker could not store acknowledgements; the records are locked as before.
_REPEATABLE: Final = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)


class _Node:
    """A node with its session."""

    def __init__(self, session: NodeShareSession) -> None:
        self.session = session
        self.is_busy = False
        self.retry_at = 0.0
        self.failures = 0


class ShareFetcher:
    """Belongs to a share consumer."""

    def __init__(
        self,
        cluster: ClientCluster,
        settings: ShareConsumerSettings,
        member_id: str,
        leases: Leases,
        outcomes: AcknowledgementOutcomes,
        metrics: ShareConsumerMetrics,
        *,
        on_records: Callable[[], None],
        fail: Callable[[ClientError], None],
    ) -> None:
        # Set with the subscription.
        self.membership: ShareMembership | None = None
        # Whether the application waits for records.
        self.is_polling = False
        # How many commits wait for acknowledgements to be answered.
        self.flushes = 0
        self._cluster = cluster
        self._settings = settings
        self._member_id = member_id
        self._leases = leases
        self._outcomes = outcomes
        self._metrics = metrics
        self._on_records = on_records
        self._fail = fail
        self._nodes: dict[int, _Node] = {}
        self._is_refreshing = False
        # The partitions of an assignment and its metadata, by node.
        self._wanted_for: tuple[object, object] = (None, None)
        self._last_wanted: dict[int, dict[TopicPartition, Uuid]] = {}
        # With record_limit, only one node at a time is asked for records.
        self._asked: int | None = None

    @property
    def sessions(self) -> list[NodeShareSession]:
        return [node.session for node in self._nodes.values()]

    def assigned(self) -> frozenset[TopicPartition]:
        """The assigned partitions that have leaders."""
        return frozenset(name for names in self._wanted().values() for name in names)

    def pump(self) -> None:
        """Starts requests to the nodes that have none in flight."""
        if self._cluster.tasks.is_closed:
            return
        wanted = self._wanted()
        for node_id in wanted:
            if node_id not in self._nodes:
                session = NodeShareSession(node_id, self._settings, self._member_id)
                self._nodes[node_id] = _Node(session)
        for node in self._nodes.values():
            if not node.is_busy and self._has_work(node, wanted):
                node.is_busy = True
                self._cluster.tasks.start("share fetch", self._serve(node))

    async def end_sessions(self) -> None:
        """Sends the last acknowledgements; the brokers release everything else."""
        await asyncio.gather(*map(self._end_session, list(self._nodes.values())))

    async def _end_session(self, node: _Node) -> None:
        while node.is_busy:
            await self._outcomes.wait_change()
        session = node.session
        node.is_busy = True
        try:
            while session.renewals and not session.is_new:
                await self._send(node, session.acknowledge_request())
            if not session.is_new:
                await self._send(node, session.acknowledge_request(is_final=True))
        finally:
            node.is_busy = False

    # ---- requests

    def _has_work(self, node: _Node, wanted: Mapping[int, object]) -> bool:
        if node.retry_at > self._cluster.clock.monotonic():
            return False
        session = node.session
        if session.has_pending and (self.flushes or self.is_polling):
            return True
        return node.session.node_id in wanted and self._may_fetch(node)

    def _may_fetch(self, node: _Node) -> bool:
        if not self.is_polling or self._leases.has_waiting:
            return False
        return not self._settings.is_strict or self._asked in (None, node.session.node_id)

    async def _serve(self, node: _Node) -> None:
        """Sends requests as long as there is something to do."""
        try:
            while (request := self._next_request(node)) is not None:
                try:
                    await self._send(node, request)
                finally:
                    if self._asked == node.session.node_id:
                        self._asked = None
                if self._settings.is_strict and len(self._nodes) > 1:
                    break
        finally:
            node.is_busy = False
            self._outcomes.wake()
        # Other nodes are next.
        node_id = node.session.node_id
        self._nodes[node_id] = self._nodes.pop(node_id)
        self._pump_later(node)

    def _next_request(self, node: _Node) -> Any | None:
        wanted = self._wanted()
        session = node.session
        if not self._has_work(node, wanted):
            return None
        names = wanted.get(session.node_id, {})
        fetches = bool(names) and self._may_fetch(node)
        if session.is_new and session.has_pending:
            # Those of a session that has ended.
            self._lose(node, share_error(ErrorCode.SHARE_SESSION_NOT_FOUND, "the session ended"))
        if session.renewals or (
            session.pending and (not fetches or session.has_other_pending(names))
        ):
            return session.acknowledge_request()
        if not fetches:
            return None
        wait_ms = self._settings.fetch_wait_ms_max
        if self._settings.is_strict:
            self._asked = session.node_id
            if len(wanted) > 1:
                wait_ms = min(wait_ms, _SHORT_WAIT_MS)
        if self._leases.outstanding(session.node_id):
            wait_ms = min(wait_ms, _SHORT_WAIT_MS)
        self._metrics.count("fetch-total")
        return session.fetch(names, wait_ms=wait_ms, records_max=self._settings.max_poll_records)

    async def _send(self, node: _Node, request: Any) -> None:
        session, settings = node.session, self._settings
        try:
            response = await self._cluster.send(
                session.node_id,
                request,
                lane=Lane.FETCH,
                timeout_ms=self._cluster.settings.request_timeout_ms + settings.fetch_wait_ms_max,
            )
        except ChannelError as error:
            what = f"share session with node {session.node_id}"
            _log.debug("%s: %s", what, error)
            self._lose(node, public_error(error, what))
            self._back_off(node)
            if (final := final_error(error, what)) is not None:
                self._fail(final)
            self._refresh()
            return
        if response.error_code:
            self._refused(node, response)
            return
        node.failures = 0
        session.answered()
        self._leases.lock_ms = response.acquisition_lock_timeout_ms or self._leases.lock_ms
        if isinstance(response, fetch_wire.ShareFetchResponse):
            session.delay_ms_max = delay_of(response) or 0
            self._take_fetched(node, response)
        else:
            self._take_acknowledged(node, response)
        if request.share_session_epoch < 0:
            self._lose(node, share_error(ErrorCode.SHARE_SESSION_NOT_FOUND, "the session ended"))
        self._on_records()

    def _refused(self, node: _Node, response: Any) -> None:
        """The request as a whole was refused."""
        what = f"share session of group {self._settings.group_id}"
        error = share_error(response.error_code, f"{what}: {response.error_message or ''}")
        _log.debug("%s", error)
        self._lose(node, error)
        if response.error_code not in _SESSION_LOST:
            self._back_off(node)
            if not error.retriable:
                self._fail(error)

    def _lose(self, node: _Node, error: ClientError) -> None:
        """The session has ended: all its records are released."""
        for name, runs in node.session.restart().items():
            self._outcomes.add(name, runs, error)
        self._leases.drop_lost()
        self._outcomes.wake()

    # ---- responses

    def _take_fetched(self, node: _Node, response: fetch_wire.ShareFetchResponse) -> None:
        sent = node.session.take_sent()
        for topic in response.responses:
            for data in topic.partitions:
                topic_id = Uuid(bytes(topic.topic_id))
                name = node.session.name_of(topic_id, data.partition_index)
                runs = sent.pop(name, None)
                if runs is not None:
                    code, message = data.acknowledge_error_code, data.acknowledge_error_message
                    self._answered(node, name, runs, code, message)
                if data.error_code:
                    self._failed(node, name, data, response.node_endpoints)
                elif data.acquired_records:
                    self._take_records(node, name, data)
        for name, runs in sent.items():
            # A response lists only partitions with something to say.
            self._answered(node, name, runs, 0, None)

    def _take_acknowledged(self, node: _Node, response: ack_wire.ShareAcknowledgeResponse) -> None:
        sent = node.session.take_sent()
        for topic in response.responses:
            for data in topic.partitions:
                topic_id = Uuid(bytes(topic.topic_id))
                name = node.session.name_of(topic_id, data.partition_index)
                runs = sent.pop(name, None)
                if runs is not None:
                    self._answered(node, name, runs, data.error_code, data.error_message)
        for name, runs in sent.items():
            self._answered(node, name, runs, 0, None)

    def _answered(
        self, node: _Node, name: TopicPartition, runs: AckRuns, code: int, message: str | None
    ) -> None:
        if code in _REPEATABLE:
            node.session.resend(name, runs)
            self._back_off(node)
            return
        error = None
        if code:
            error = share_error(code, f"acknowledging records of {name}: {message or ''}")
            _log.debug("%s", error)
        self._outcomes.add(name, runs, error)

    def _take_records(
        self, node: _Node, name: TopicPartition, data: fetch_wire.PartitionData
    ) -> None:
        acquired = [
            Acquired(each.first_offset, each.last_offset, each.delivery_count)
            for each in data.acquired_records
        ]
        records = data.records or b""
        self._metrics.count("fetched-bytes-total", len(records))
        decoded = SharedDecoder(name, acquired).decode(
            records, checks_crcs=self._settings.checks_crcs
        )
        lock_ms = self._leases.lock_ms or 0
        lease = Lease(
            node.session,
            name,
            decoded.records,
            lock_ends=self._cluster.clock.monotonic() + lock_ms / 1_000,
        )
        self._leases.add(lease, decoded.settled)
        if decoded.unreadable is not None:
            offset, reason = decoded.unreadable
            _log.warning("%s: the records at offset %d are rejected: %s", name, offset, reason)
            message = f"{name}: the records at offset {offset} cannot be read: {reason}"
            self._fail(share_error(ErrorCode.CORRUPT_MESSAGE, message))

    def _failed(
        self,
        node: _Node,
        name: TopicPartition,
        data: fetch_wire.PartitionData,
        endpoints: Any,
    ) -> None:
        error = share_error(data.error_code, f"fetching {name}: {data.error_message or ''}")
        _log.debug("%s", error)
        leader = data.current_leader
        if data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER and leader.leader_id >= 0:
            before = self._cluster.leader(name)
            found = PartitionLeader(leader.leader_id, leader.leader_epoch)
            self._cluster.note_leader(name, found, endpoints)
            if self._cluster.leader(name) != before:
                return
        self._back_off(node)
        if error.code in STALE_METADATA:
            self._refresh()
        elif not error.retriable:
            self._fail(error)

    # ---- what to fetch

    def _wanted(self) -> dict[int, dict[TopicPartition, Uuid]]:
        """The assigned partitions by the nodes that lead them."""
        membership, metadata = self.membership, self._cluster.metadata
        if membership is None:
            return {}
        state = membership.assignment, metadata
        if state[0] is self._wanted_for[0] and state[1] is self._wanted_for[1]:
            return self._last_wanted
        wanted: defaultdict[int, dict[TopicPartition, Uuid]] = defaultdict(dict)
        is_stale = False
        for topic_id, indexes in membership.assignment.items():
            topic = metadata.topic_names.get(topic_id, "")
            is_stale |= not topic
            for index in indexes if topic else ():
                name = TopicPartition(topic, index)
                if (leader := metadata.leader(name)) is not None:
                    wanted[leader.node_id][name] = topic_id
                else:
                    is_stale = True
        if is_stale:
            self._refresh()
        else:
            self._wanted_for = state
        self._last_wanted = wanted
        return wanted

    def _back_off(self, node: _Node) -> None:
        node.failures += 1
        pause = self._cluster.backoff(node.failures)
        node.retry_at = self._cluster.clock.monotonic() + pause

    def _pump_later(self, node: _Node) -> None:
        if self._cluster.tasks.is_closed:
            return
        pause = node.retry_at - self._cluster.clock.monotonic()
        self._cluster.clock.call_later(max(pause, 0), self.pump)

    def _refresh(self) -> None:
        """Looks for leaders and names of topics, once at a time."""
        if not self._is_refreshing and not self._cluster.tasks.is_closed:
            self._is_refreshing = True
            self._cluster.tasks.start("leaders", self._refresh_metadata())

    async def _refresh_metadata(self) -> None:
        topics = self.membership.topics if self.membership is not None else frozenset()
        try:
            await self._cluster.refresh(topics)
        except (ChannelError, KafkaError) as error:
            _log.debug("cannot refresh metadata: %s", error)
        await self._cluster.clock.sleep(self._cluster.backoff(1))
        self._is_refreshing = False
        self.pump()
