"""Leaders ask the coordinators of transactions before a batch opens one here (KIP-890).

Clients of TransactionV1 have added their partitions by then, and the coordinator only looks. With
TransactionV2 it adds them: that is what clients count on. Questions to one node go together, as
many as have gathered while the last request to it was under way, one of each transaction; those to
this node take no connection.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.broker.control.broker_peers import PeerLane
from ottla.client import ChannelError, versions
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import Partition
from ottla.storage.producers.verification import Verification
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_log = logging.getLogger(__name__)

_NO_LEADER: Final = -1


class Supported(Enum):
    """What a client can be told, and what it expects of the broker, by its version of the API."""

    # Errors of before KIP-890.
    OLD_ERRORS = auto()
    # TRANSACTION_ABORTABLE too.
    ABORTABLE = auto()
    # TransactionV2: the broker adds the partition to the transaction.
    ADDING = auto()


def supported_by_produce(version: int) -> Supported:
    if version > 11:
        return Supported.ADDING
    return Supported.ABORTABLE if version > 10 else Supported.OLD_ERRORS


def supported_by_offset_commit(version: int) -> Supported:
    if version > 4:
        return Supported.ADDING
    return Supported.ABORTABLE if version > 3 else Supported.OLD_ERRORS


class TransactionalProducer(NamedTuple):
    transactional_id: str | None
    producer_id: int
    producer_epoch: int


class UnverifiedBatch(NamedTuple):
    """A batch that may open a transaction in a partition; coordinators' have no sequence."""

    partition: Partition
    sequence: int


class Verified(NamedTuple):
    """Partitions that must not be written to, and what to append with in others."""

    errors: Mapping[TopicPartition, ErrorCode]
    verifications: Mapping[TopicPartition, Verification]


Told = Callable[[Verified], None]
NOTHING_TO_VERIFY: Final = Verified({}, {})


class TransactionVerification:
    """Made with the broker. Owned by the node's loop, and ends with its tasks."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._queues: defaultdict[int, deque[Question]] = defaultdict(deque)
        self._busy: set[int] = set()
        # Partitions that were refused, and how long other nodes take to say so or not.
        self._failures = broker.metrics.counter("VerificationFailures")
        self._time_ms = broker.metrics.histogram("VerificationTimeMs")

    def verify(
        self,
        producer: TransactionalProducer,
        batches: Sequence[UnverifiedBatch],
        supported: Supported,
        told: Told,
    ) -> None:
        """Has `told` called once, at once where nothing has to be asked."""
        enabled = self._broker.config.transaction_partition_verification_enable
        if producer.transactional_id is None or not (enabled or supported is Supported.ADDING):
            told(NOTHING_TO_VERIFY)
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
            told(Verified(errors, {}))
            return

        def answered(refused: dict[TopicPartition, ErrorCode]) -> None:
            if refused:
                self._failures.add(len(refused))
            told(Verified({**errors, **refused}, verifications))

        self._ask(Question(producer, sorted(verifications), supported, answered))

    def _start(
        self, producer: TransactionalProducer, batch: UnverifiedBatch, supported: Supported
    ) -> Verification | None:
        batch.partition.require_leader()
        return batch.partition.require_log().producers.state.start_verification(
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            sequence=batch.sequence,
            supports_epoch_bump=supported is Supported.ADDING,
            now_ms=self._broker.clock.now_ms(),
        )

    # ---- asking

    def _ask(self, question: Question) -> None:
        broker = self._broker
        node_id = self._coordinator_of(question.transactional_id)
        if node_id is None:
            question.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif node_id == broker.node_id:
            self.ask_here(question)
        else:
            self._queues[node_id].append(question)
            if node_id not in self._busy and not broker.tasks.is_closed:
                self._busy.add(node_id)
                broker.tasks.start(f"verify with {node_id}", self._send_all(node_id))

    def _coordinator_of(self, transactional_id: str) -> int | None:
        name = self._broker.coordinators.transactions.partition_of(transactional_id)
        if name is None:
            return None
        topic = self._broker.image.topics.by_name[name.topic]
        leader = topic.partitions[name.partition].leader
        return None if leader == _NO_LEADER else leader

    def ask_here(self, question: Question) -> None:
        # Loaded with the first transaction, as its coordinator is.
        from ottla.broker.transactions.own_questions import ask_here

        ask_here(self._broker, question)

    async def _send_all(self, node_id: int) -> None:
        try:
            while questions := self._take(node_id):
                await self._send(node_id, questions)
        finally:
            self._busy.discard(node_id)

    def _take(self, node_id: int) -> list[Question]:
        """One of each transaction, in order: the answers are told apart by transactional ids."""
        taken: dict[str, Question] = {}
        left: deque[Question] = deque()
        for question in self._queues.pop(node_id, ()):
            if question.transactional_id in taken:
                left.append(question)
            else:
                taken[question.transactional_id] = question
        if left:
            self._queues[node_id] = left
        return list(taken.values())

    async def _send(self, node_id: int, questions: list[Question]) -> None:
        clock = self._broker.clock
        sent_at = clock.monotonic()
        try:
            response = await self._broker.peers.send(
                node_id,
                PeerLane.VERIFICATION,
                request_of(questions),
                versions.ADD_PARTITIONS_TO_TXN,
                timeout_ms=self._broker.config.request_timeout_ms,
            )
        except ChannelError:
            for question in questions:
                question.fail(ErrorCode.NETWORK_EXCEPTION)
        else:
            self._time_ms.record((clock.monotonic() - sent_at) * 1_000)
            answer_all(questions, response)


class Question(NamedTuple):
    """Whether partitions are in a transaction, or to have them added."""

    producer: TransactionalProducer
    # In order.
    partitions: list[TopicPartition]
    supported: Supported
    # Given the partitions that are refused.
    told: Callable[[dict[TopicPartition, ErrorCode]], None]

    @property
    def transactional_id(self) -> str:
        assert self.producer.transactional_id is not None
        return self.producer.transactional_id

    def fail(self, error: ErrorCode) -> None:
        self._tell(dict.fromkeys(self.partitions, error))

    def answer(self, codes: Mapping[TopicPartition, ErrorCode]) -> None:
        """With what the coordinator says, as clients know it."""
        self._tell({name: _told(code, self.supported) for name, code in codes.items() if code})

    def _tell(self, refused: dict[TopicPartition, ErrorCode]) -> None:
        """Whatever goes wrong with what waited is its own, and not that of the next question."""
        try:
            self.told(refused)
        except Exception:
            _log.exception("a write of %r cannot go on", self.transactional_id)


def request_of(questions: list[Question]) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=question.transactional_id,
                producer_id=question.producer.producer_id,
                producer_epoch=question.producer.producer_epoch,
                verify_only=question.supported is not Supported.ADDING,
                topics=[
                    AddPartitionsToTxnTopic(
                        name=topic, partitions=[name.partition for name in names]
                    )
                    for topic, names in groupby(question.partitions, lambda name: name.topic)
                ],
            )
            for question in questions
        ]
    )


def answer_all(questions: list[Question], response: object) -> None:
    assert isinstance(response, AddPartitionsToTxnResponse)
    if response.error_code:
        error = ErrorCode(response.error_code)
        if error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            # That is between the nodes: to the client, nothing was verified.
            error = ErrorCode.INVALID_TXN_STATE
        for question in questions:
            question.fail(error)
        return
    results = {
        (result.transactional_id, topic.name, each.partition_index): each.partition_error_code
        for result in response.results_by_transaction
        for topic in result.topic_results
        for each in topic.results_by_partition
    }
    for question in questions:
        question.answer(
            {
                name: ErrorCode(
                    results.get((question.transactional_id, *name), ErrorCode.UNKNOWN_SERVER_ERROR)
                )
                for name in question.partitions
            }
        )


def _told(code: ErrorCode, supported: Supported) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and supported is Supported.OLD_ERRORS:
        return ErrorCode.INVALID_TXN_STATE
    return code
