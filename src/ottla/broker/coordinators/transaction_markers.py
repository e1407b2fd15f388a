"""Sends transaction markers to the leaders of their partitions.

There is one WriteTxnMarkers request in flight per leader node; new markers are batched into the
next one. Partitions led by this node are written directly. A failed marker is retried after a
short pause, at the leader of that time. If the leader changes while a request is in flight, its
markers are sent to the new leader at once. A deleted partition needs no marker.

TRANSACTION_COORDINATOR_FENCED is retried too, until the coordinator is closed. A node that lost a
partition of `__transaction_state` and got it back may learn of both at once: its coordinator goes
on, and its markers are refused until it has the later epoch, if the one in between wrote some.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.marker_appending import MarkerAppender
from ottla.broker.coordinators.marker_writing import MarkerPart, MarkerWriting, markers_request
from ottla.channels import ChannelError, versions
from ottla.coordinator.transactions.markers import TransactionMarkers
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.write_txn_markers import WriteTxnMarkersResponse

_log = logging.getLogger(__name__)

_TIMEOUT_MS: Final = 10_000
_NO_LEADER: Final = -1

# Not retried: the transaction was ended by another coordinator, and its producer has gone on.
_FENCED: Final = ErrorCode.INVALID_PRODUCER_EPOCH


class MarkerSender:
    """One per node, for all its coordinators. Its requests end with the node's tasks."""

    def __init__(
        self,
        cluster: ClusterView,
        peers: BrokerPeers,
        appender: MarkerAppender,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._peers = peers
        self._appender = appender
        self._queues: defaultdict[int, list[MarkerPart]] = defaultdict(list)
        self._busy: set[int] = set()
        # The parts of the request in flight, by node id.
        self._in_flight: dict[int, list[MarkerPart]] = {}

    def writer(
        self,
        coordinator_epoch: Callable[[], int],
        written: Callable[[TransactionMarkers], None],
    ) -> ShardMarkers:
        """Creates the marker writer of one coordinator. `written` is called for each transaction
        once all its markers are written."""
        return ShardMarkers(self, coordinator_epoch, written)

    def leaders_changed(self) -> None:
        """Resends markers in flight whose partition has a new leader. Otherwise they would wait for
        the old leader's timeout."""
        for node_id, parts in list(self._in_flight.items()):
            moved: list[MarkerPart] = []
            for part in parts:
                names = [name for name in part.partitions if self._leader_of(name) != node_id]
                if names:
                    moved.append(MarkerPart(part.writing, names, part.attempts))
                    part.partitions[:] = [name for name in part.partitions if name not in names]
            for part in moved:
                self.dispatch(part.writing, part.partitions, attempts=part.attempts)

    def dispatch(
        self, writing: MarkerWriting, partitions: Iterable[TopicPartition], *, attempts: int = 0
    ) -> None:
        if writing.is_over:
            return
        by_leader: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for name in sorted(partitions):
            leader = self._leader_of(name)
            if leader is None:
                writing.settle(name)
            else:
                by_leader[leader].append(name)
        for leader, names in by_leader.items():
            self._give(leader, MarkerPart(writing, names, attempts))
        writing.maybe_finish()

    def _leader_of(self, name: TopicPartition) -> int | None:
        """The partition's leader id; None if the partition does not exist."""
        topic = self._cluster.image.topics.by_name.get(name.topic)
        registration = None if topic is None else topic.partitions.get(name.partition)
        return None if registration is None else registration.leader

    def _give(self, leader: int, part: MarkerPart) -> None:
        if leader == _NO_LEADER:
            self._again(part)
        elif leader == self._cluster.node_id:
            self._write_here(part)
        else:
            self._queues[leader].append(part)
            if leader not in self._busy and not self._tasks.is_closed:
                self._busy.add(leader)
                self._tasks.start(f"markers to {leader}", self._send_all(leader))

    def _again(self, part: MarkerPart) -> None:
        writing, partitions, attempts = part
        again = partial(self.dispatch, writing, partitions, attempts=attempts + 1)
        self._clock.call_later(part.next_retry_ms(self._dice) / 1_000, again)

    # ---- to this node

    def _write_here(self, part: MarkerPart) -> None:
        marker = part.writing.marker()
        now_ms = self._clock.now_ms()
        batch = marker.batch(now_ms=now_ms)
        for name in part.partitions:
            callback = partial(self._written_here, part, name)
            self._appender.append(name, marker, batch, callback, now_ms=now_ms)

    def _written_here(self, part: MarkerPart, name: TopicPartition, code: ErrorCode) -> None:
        if self._is_settled(part.writing, name, code):
            part.writing.maybe_finish()
        else:
            self._again(MarkerPart(part.writing, [name], part.attempts))

    # ---- to other nodes

    async def _send_all(self, node_id: int) -> None:
        try:
            while parts := [
                each for each in self._queues.pop(node_id, ()) if not each.writing.is_over
            ]:
                await self._send(node_id, parts)
        finally:
            self._busy.discard(node_id)

    async def _send(self, node_id: int, parts: list[MarkerPart]) -> None:
        self._in_flight[node_id] = parts
        try:
            response = await self._peers.send(
                node_id,
                PeerLane.MARKERS,
                markers_request(parts),
                versions.WRITE_TXN_MARKERS,
                timeout_ms=_TIMEOUT_MS,
            )
        except ChannelError as error:
            _log.info("sending transaction markers to node %d again: %s", node_id, error)
            for part in parts:
                if part.partitions:
                    self._again(part)
        else:
            self._answered(parts, response)
        finally:
            del self._in_flight[node_id]

    # ---- responses

    def _answered(self, parts: list[MarkerPart], response: object) -> None:
        assert isinstance(response, WriteTxnMarkersResponse)
        codes = {
            (marker.producer_id, topic.name, partition.partition_index): partition.error_code
            for marker in response.markers
            for topic in marker.topics
            for partition in topic.partitions
        }
        for part in parts:
            producer_id = part.writing.markers.producer_id
            failed = []
            for name in part.partitions:
                code = codes.get((producer_id, *name), ErrorCode.UNKNOWN_SERVER_ERROR)
                if not self._is_settled(part.writing, name, ErrorCode(code)):
                    failed.append(name)
            if failed:
                self._again(MarkerPart(part.writing, failed, part.attempts))
            part.writing.maybe_finish()

    def _is_settled(self, writing: MarkerWriting, name: TopicPartition, code: ErrorCode) -> bool:
        if code is ErrorCode.NONE:
            writing.settle(name)
            return True
        markers = writing.markers
        if code is _FENCED:
            _log.warning(
                "%s rejected the transaction marker of %r with producer id %d and epoch %d: %s",
                name,
                markers.transactional_id,
                markers.producer_id,
                markers.producer_epoch,
                code.name,
            )
            writing.give_up()
            return True
        _log.info("%s: writing a transaction marker again after %s", name, code.name)
        return False


class ShardMarkers:
    """The markers of one coordinator, until it is closed."""

    def __init__(
        self,
        sender: MarkerSender,
        coordinator_epoch: Callable[[], int],
        written: Callable[[TransactionMarkers], None],
    ) -> None:
        self._sender = sender
        self._coordinator_epoch = coordinator_epoch
        self._written = written
        self.is_closed = False

    @property
    def coordinator_epoch(self) -> int:
        return self._coordinator_epoch()

    def write(self, markers: TransactionMarkers) -> None:
        self._sender.dispatch(MarkerWriting(self, markers), markers.partitions)

    def close(self) -> None:
        self.is_closed = True

    def finished(self, markers: TransactionMarkers) -> None:
        if not self.is_closed:
            self._written(markers)
