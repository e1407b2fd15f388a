"""Leaders verify a transaction before they append its first batch to a partition (KIP-890).

A client of TransactionV1 has already added the partition, so the coordinator only verifies it. With
TransactionV2 the coordinator adds the partition, as clients expect. There is one AddPartitionsToTxn
request in flight per coordinator node; further verifications are batched into the next one, at most
one per transaction. A coordinator in this process is called directly.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.transactions.verification_requests import (
    NOTHING_TO_VERIFY,
    Supported,
    TransactionalProducer,
    UnverifiedBatch,
    VerificationRequest,
    Verified,
    answer_all,
    request_of,
)
from ottla.channels import ChannelError, versions
from ottla.metrics import Metrics
from ottla.metrics.table import coordinators as table
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.storage.producers.verification import Verification

if TYPE_CHECKING:
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator

_NO_LEADER: Final = -1


class TransactionVerification:
    """Owned by the node's loop. Its requests end with the node's tasks."""

    def __init__(
        self,
        cluster: ClusterView,
        clock: Clock,
        tasks: Tasks,
        peers: BrokerPeers,
        metrics: Metrics,
        transactions: CoordinatorShards[TransactionCoordinator],
        verify_here: Callable[[VerificationRequest], None],
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._tasks = tasks
        self._peers = peers
        self._transactions = transactions
        # Sends a request to the coordinator in this process.
        self.verify_here = verify_here
        self._queues: defaultdict[int, deque[VerificationRequest]] = defaultdict(deque)
        self._busy: set[int] = set()
        # The number of rejected partitions, and the response time of other nodes.
        self._failures = metrics.counter(table.VERIFICATION_FAILURES)
        self._seconds = metrics.histogram(table.VERIFICATION_SECONDS)

    def verify(
        self,
        producer: TransactionalProducer,
        batches: Sequence[UnverifiedBatch],
        supported: Supported,
        callback: Callable[[Verified], None],
    ) -> None:
        """Calls `callback` once; before returning if no request to a coordinator is needed."""
        enabled = self._cluster.config.transaction_partition_verification_enable
        if producer.transactional_id is None or not (enabled or supported is Supported.ADDING):
            callback(NOTHING_TO_VERIFY)
            return
        errors: dict[TopicPartition, ErrorCode] = {}
        verifications: dict[TopicPartition, Verification] = {}
        for batch in batches:
            name = batch.partition.name
            try:
                verification = self._start(producer, batch, supported)
            except KafkaError as error:
                errors[name] = error.code
            else:
                if verification is not None:
                    verifications[name] = verification
        if not verifications:
            callback(Verified(errors, {}))
            return

        def answered(refused: dict[TopicPartition, ErrorCode]) -> None:
            if refused:
                self._failures.add(len(refused))
            callback(Verified({**errors, **refused}, verifications))

        self._dispatch(VerificationRequest(producer, sorted(verifications), supported, answered))

    def _start(
        self, producer: TransactionalProducer, batch: UnverifiedBatch, supported: Supported
    ) -> Verification | None:
        batch.partition.require_leader()
        return batch.partition.require_log().producers.state.start_verification(
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            sequence=batch.sequence,
            supports_epoch_bump=supported is Supported.ADDING,
            now_ms=self._clock.now_ms(),
        )

    # ---- requests to coordinators

    def _dispatch(self, request: VerificationRequest) -> None:
        node_id = self._coordinator_of(request.transactional_id)
        if node_id is None:
            request.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif node_id == self._cluster.node_id:
            self.verify_here(request)
        else:
            self._queues[node_id].append(request)
            if node_id not in self._busy and not self._tasks.is_closed:
                self._busy.add(node_id)
                self._tasks.start(f"verify with {node_id}", self._send_all(node_id))

    def _coordinator_of(self, transactional_id: str) -> int | None:
        name = self._transactions.partition_of(transactional_id)
        if name is None:
            return None
        topic = self._cluster.image.topics.by_name[name.topic]
        leader = topic.partitions[name.partition].leader
        return None if leader == _NO_LEADER else leader

    async def _send_all(self, node_id: int) -> None:
        try:
            while requests := self._take(node_id):
                await self._send(node_id, requests)
        finally:
            self._busy.discard(node_id)

    def _take(self, node_id: int) -> list[VerificationRequest]:
        """Takes at most one request per transaction, because results are matched by transactional
        id."""
        taken: dict[str, VerificationRequest] = {}
        left: deque[VerificationRequest] = deque()
        for request in self._queues.pop(node_id, ()):
            if request.transactional_id in taken:
                left.append(request)
            else:
                taken[request.transactional_id] = request
        if left:
            self._queues[node_id] = left
        return list(taken.values())

    async def _send(self, node_id: int, requests: list[VerificationRequest]) -> None:
        clock = self._clock
        sent_at = clock.monotonic()
        try:
            response = await self._peers.send(
                node_id,
                PeerLane.VERIFICATION,
                request_of(requests),
                versions.ADD_PARTITIONS_TO_TXN,
                timeout_ms=self._cluster.config.request_timeout_ms,
            )
        except ChannelError:
            for request in requests:
                request.fail(ErrorCode.NETWORK_EXCEPTION)
        else:
            self._seconds.record(clock.monotonic() - sent_at)
            answer_all(requests, response)
