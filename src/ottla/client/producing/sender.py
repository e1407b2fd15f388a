"""Sends the ready batches of a producer to the leaders of their partitions.

`wake` notes a queue; in the loop's next turn a request is made for every node that is connected and
has room, with one batch of each of its partitions. Whatever has to be waited for, a leader, a
connection, an answer, a producer id, wakes the sender again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from typing import Final

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster, PartitionLeader
from ottla.client.cluster.retries import STALE_METADATA, is_refusal, origin, public_error
from ottla.client.errors import ClientError, TimedOutError, TransactionAbortedError
from ottla.client.producing.accumulator import Accumulator
from ottla.client.producing.batch import ProducerBatch
from ottla.client.producing.guarantees import DeliveryGuarantee
from ottla.client.producing.metrics import ProducerMetrics
from ottla.client.producing.outcomes import LEADER_MOVED, BatchOutcome, outcome
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.client.producing.requests import BatchAnswer, answers, produce_request
from ottla.client.settings.producer import ProducerSettings
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Timer
from ottla.wire.messages.produce import ProduceResponse

_log = logging.getLogger(__name__)

# Of a request's own fields, and of each topic's and partition's.
_REQUEST_OVERHEAD_BYTES: Final = 512


class ProduceSender:
    """Owned by a producer. `unfinished` has the batches whose deliveries are not decided, by
    age."""

    def __init__(
        self, cluster: ClientCluster, settings: ProducerSettings, metrics: ProducerMetrics
    ) -> None:
        self.accumulator: Accumulator
        self.guarantee: DeliveryGuarantee
        self.unfinished: deque[ProducerBatch] = deque()
        self._cluster = cluster
        self._settings = settings
        self._metrics = metrics
        self._clock = cluster.clock
        self._pending: dict[PartitionQueue, None] = {}
        self._is_scheduled = False
        self._in_flight: dict[int, int] = {}
        self._connecting: set[int] = set()
        self._is_refreshing = False
        self._retry_timer: Timer | None = None
        self._expiry_timer: Timer | None = None
        self._is_closed = False
        cluster.on_metadata(self.wake_all)

    # ---- what wakes it

    def wake(self, queue: PartitionQueue) -> None:
        self._pending[queue] = None
        self.wake_all()

    def wake_all(self) -> None:
        if not self._is_scheduled and self._pending and not self._is_closed:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._drain)

    def added(self, batch: ProducerBatch) -> None:
        """A batch exists, which expires at its deadline."""
        unfinished = self.unfinished
        while unfinished and unfinished[0].is_decided():
            unfinished.popleft()
        unfinished.append(batch)
        if self._expiry_timer is None:
            self._expire_at(batch.deadline)

    def close(self) -> None:
        self._is_closed = True
        for timer in (self._retry_timer, self._expiry_timer):
            if timer is not None:
                timer.cancel()

    # ---- sending

    def _drain(self) -> None:
        self._is_scheduled = False
        while not self._is_closed and self._pending:
            identity = self.guarantee.identity()
            if identity is None:
                return
            requests = self._collect()
            if not requests:
                return
            for node_id, batches in requests.items():
                self._in_flight[node_id] = self._in_flight.get(node_id, 0) + 1
                self._cluster.tasks.start("produce", self._send(node_id, batches))

    def _collect(self) -> dict[int, list[ProducerBatch]]:
        """Takes one batch of each queue that can send one now."""
        now = self._clock.monotonic()
        requests: dict[int, list[ProducerBatch]] = {}
        sizes: dict[int, int] = {}
        without_leader, retry_at = [], float("inf")
        for queue in list(self._pending):
            if not queue.has_sendable:
                del self._pending[queue]
                continue
            if queue.retry_at > now:
                retry_at = min(retry_at, queue.retry_at)
                continue
            leader = self._cluster.leader(queue.partition)
            if leader is None:
                without_leader.append(queue.partition.topic)
                continue
            node_id = leader.node_id
            is_elsewhere = queue.in_flight and queue.node_id != node_id
            if is_elsewhere or not self._has_room(node_id) or not self.guarantee.admits(queue):
                continue
            size = sizes.get(node_id, _REQUEST_OVERHEAD_BYTES) + queue.next_size
            if node_id in requests and size > self._settings.max_request_size:
                continue
            batch = self._next_batch(queue)
            if batch is not None:
                queue.node_id = node_id
                requests.setdefault(node_id, []).append(batch)
                sizes[node_id] = size
        if without_leader:
            self._refresh(without_leader)
        if retry_at != float("inf"):
            self._retry_later(retry_at)
        return requests

    def _next_batch(self, queue: PartitionQueue) -> ProducerBatch | None:
        if queue.needs_restart and not queue.in_flight:
            self.guarantee.lost_sequence(queue)
        identity = self.guarantee.identity()
        if identity is None:
            return None
        if queue.is_open_next(identity):
            self.accumulator.take_open(queue)
        batch = queue.next_batch(identity)
        self._pending.pop(queue, None)
        # Otherwise the next answer wakes the sender for this queue.
        if batch is not None and queue.has_sendable:
            # Behind the others, which had no room in this request.
            self._pending[queue] = None
        return batch

    def _has_room(self, node_id: int) -> bool:
        if self._in_flight.get(node_id, 0) >= self._settings.in_flight_max:
            return False
        if self._cluster.is_connected(node_id):
            return True
        if node_id not in self._connecting:
            self._connecting.add(node_id)
            self._cluster.tasks.start("connect", self._connect(node_id))
        return False

    async def _connect(self, node_id: int) -> None:
        """Batches are sent when this has succeeded: several that wait for a connection might be
        sent in another order."""
        try:
            await self._cluster.connect(node_id)
        except ChannelError as error:
            if is_refusal(origin(error)):
                self.fail_unsent(public_error(origin(error), f"connecting to node {node_id}"))
            _log.debug("cannot connect to node %d: %s", node_id, error)
            self._refresh(())
        finally:
            self._connecting.discard(node_id)
        self.wake_all()

    async def _send(self, node_id: int, batches: list[ProducerBatch]) -> None:
        settings = self._settings
        guarantee = self.guarantee
        request = produce_request(batches, settings, guarantee.transactional_id, self._cluster)
        version_max = guarantee.produce_version_max()
        self._metrics.sent(batches)
        try:
            if settings.acks == 0:
                await self._cluster.post(node_id, request, version_max=version_max)
                found = [BatchAnswer(batch, ErrorCode.NONE) for batch in batches]
            else:
                response: ProduceResponse = await self._cluster.send(
                    node_id, request, version_max=version_max
                )
                found = answers(batches, response, self._cluster.metadata.topic_names)
                self._note_leaders(found, response)
        except ChannelError as error:
            _log.debug("no response from node %d: %s", node_id, error)
            found = [
                BatchAnswer(batch, ErrorCode.NETWORK_EXCEPTION, message=str(error))
                for batch in batches
            ]
        finally:
            self._in_flight[node_id] -= 1
        stale = set()
        for answer in found:
            self._answered(answer, node_id)
            if answer.code in STALE_METADATA:
                stale.add(answer.batch.partition.topic)
        if stale:
            self._refresh(stale)
        self.wake_all()

    # ---- answers

    def _answered(self, answer: BatchAnswer, node_id: int) -> None:
        batch = answer.batch
        queue = self.accumulator.queue(batch.partition)
        chosen = outcome(answer.code, batch, queue, retries=self._settings.retries)
        if chosen is BatchOutcome.RESTART and self.guarantee.transactional_id is not None:
            chosen = BatchOutcome.FAILED
        if chosen is BatchOutcome.WRITTEN:
            queue.acknowledged(batch)
            batch.complete(answer.base_offset, answer.log_append_time)
            self._release(batch)
            self._metrics.acknowledged(batch)
        elif chosen is BatchOutcome.SPLIT:
            self._split(batch)
        elif chosen is BatchOutcome.FAILED:
            self._give_up(batch, answer.error())
        else:
            queue.failed(batch, retry_at=self._retry_at(queue, answer.code, node_id))
            queue.needs_restart = queue.needs_restart or chosen is BatchOutcome.RESTART
            self._metrics.retried(batch)
            _log.debug("%s: sending %d records again: %s", queue.partition, batch.count, answer)
        self._pending[queue] = None

    def _retry_at(self, queue: PartitionQueue, code: ErrorCode, node_id: int) -> float:
        now = self._clock.monotonic()
        leader = self._cluster.leader(queue.partition)
        if code in LEADER_MOVED and leader is not None and leader.node_id != node_id:
            return now
        return now + self._cluster.backoff(queue.failures + 1)

    def _split(self, batch: ProducerBatch) -> None:
        queue = self.accumulator.queue(batch.partition)
        parts = batch.split()
        queue.replaced(batch, parts)
        for part in parts:
            self.added(part)
        batch.hand_over()
        batch.sealed = None

    def _give_up(self, batch: ProducerBatch, error: ClientError, *, unknown: bool = False) -> None:
        """Fails the deliveries. `unknown`: the batch may have been written."""
        queue = self.accumulator.queue(batch.partition)
        # A batch that expired while it was in flight was not known to be written, and now is not.
        queue.gave_up(batch, is_unresolved=unknown or batch.is_done)
        if not batch.is_done:
            self._fail(batch, error)
        self._release(batch)
        self._pending[queue] = None

    def _fail(self, batch: ProducerBatch, error: ClientError) -> None:
        is_awaited = batch.is_awaited
        batch.fail(error)
        self._metrics.failed(batch)
        self.guarantee.batch_failed(error)
        if not is_awaited and not isinstance(error, TransactionAbortedError):
            partition = batch.partition
            _log.warning("%d records for %s were not written: %s", batch.count, partition, error)

    def _release(self, batch: ProducerBatch) -> None:
        reserved, batch.reserved = batch.reserved, 0
        self.accumulator.memory.give_back(reserved)

    def _note_leaders(self, found: Iterable[BatchAnswer], response: ProduceResponse) -> None:
        for answer in found:
            leader = answer.leader
            if leader is not None and leader.leader_id >= 0:
                self._cluster.note_leader(
                    answer.batch.partition,
                    PartitionLeader(leader.leader_id, leader.leader_epoch),
                    response.node_endpoints,
                )

    # ---- what cannot be sent

    def fail_unsent(self, error: ClientError) -> None:
        """Fails every batch that is not in flight."""
        for queue in self.accumulator.queues():
            for batch in queue.take_unsent():
                self._fail(batch, error)
                self._release(batch)
            for batch in [each for each in queue.outstanding if not each.is_in_flight]:
                self._give_up(batch, error, unknown=True)
        self.wake_all()

    def fail_all(self, error: ClientError) -> None:
        """Fails every delivery that is not decided, when no answer comes any more."""
        for batch in self.unfinished:
            if not batch.is_decided():
                self._fail(batch, error)
                self._release(batch)

    def _expire_at(self, deadline: float) -> None:
        seconds = max(deadline - self._clock.monotonic(), 0.001)
        self._expiry_timer = self._clock.call_later(seconds, self._expire)

    def _expire(self) -> None:
        self._expiry_timer = None
        now = self._clock.monotonic()
        unfinished = self.unfinished
        while unfinished and (unfinished[0].is_decided() or unfinished[0].deadline <= now):
            batch = unfinished.popleft()
            if not batch.is_decided():
                self._expired(batch)
        if unfinished and not self._is_closed:
            self._expire_at(unfinished[0].deadline)
        self.wake_all()

    def _expired(self, batch: ProducerBatch) -> None:
        queue = self.accumulator.queue(batch.partition)
        error = TimedOutError(
            f"{batch.count} records for {queue.partition} were not acknowledged within "
            f"delivery.timeout.ms ({self._settings.delivery_timeout_ms}), after {batch.attempts} "
            f"attempts"
        )
        if batch.is_in_flight:
            # The answer will say whether its sequence number was used.
            self._fail(batch, error)
            self._release(batch)
        else:
            if queue.open is batch:
                queue.close_open()
            self._give_up(batch, error, unknown=batch.attempts > 0)

    # ---- what is waited for

    def _retry_later(self, at: float) -> None:
        if self._retry_timer is not None:
            self._retry_timer.cancel()
        self._retry_timer = self._clock.call_later(
            max(at - self._clock.monotonic(), 0), self.wake_all
        )

    def _refresh(self, topics: Iterable[str]) -> None:
        if not self._is_refreshing and not self._cluster.tasks.is_closed:
            self._is_refreshing = True
            self._cluster.tasks.start("leaders", self._look_for_leaders(set(topics)))

    async def _look_for_leaders(self, topics: set[str]) -> None:
        failures = 0
        try:
            while True:
                try:
                    await self._cluster.refresh(topics)
                except (ChannelError, KafkaError) as error:
                    _log.debug("no metadata: %s", error)
                missing = [
                    queue
                    for queue in self._pending
                    if queue.has_sendable and self._cluster.leader(queue.partition) is None
                ]
                if not missing:
                    return
                failures += 1
                await self._clock.sleep(self._cluster.backoff(failures))
                topics = {queue.partition.topic for queue in missing}
        finally:
            self._is_refreshing = False
            self.wake_all()
