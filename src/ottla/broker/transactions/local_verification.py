"""Verification requests to a transaction coordinator in this process."""

from __future__ import annotations

from typing import Final

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.transactions.known_transactions import is_known
from ottla.broker.transactions.transaction_requests import BROKER_PATIENCE_MS, TransactionRequests
from ottla.broker.transactions.verification_requests import Supported, VerificationRequest
from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.transactions.coordinator import TransactionCoordinator
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.versions import TV_2
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.wire.messages.add_partitions_to_txn import AddPartitionsToTxnResult

# Only signals that the operation is committed; its content is not used.
_ANSWER: Final = AddPartitionsToTxnResult()


class LocalVerification:
    """One per node. Owned by its loop."""

    def __init__(
        self,
        transactions: CoordinatorShards[TransactionCoordinator],
        requests: TransactionRequests,
    ) -> None:
        self._transactions = transactions
        self._requests = requests

    def verify(self, request: VerificationRequest) -> None:
        """Does what AddPartitionsToTxn does, without a network request."""
        if is_known(self._transactions, request.producer, request.partitions):
            request.answer({})
            return
        pending = _PendingVerification(request)
        self._requests.submit_patiently(
            request.transactional_id,
            pending.add if request.supported is Supported.ADDING else pending.verify,
            pending.reply,
            pending.refuse,
            patience_ms=BROKER_PATIENCE_MS,
        )


class _PendingVerification:
    """One verification request, which may take several attempts."""

    __slots__ = ("_codes", "_partitions", "_producer", "_request")

    def __init__(self, request: VerificationRequest) -> None:
        self._request = request
        self._partitions = frozenset(request.partitions)
        self._producer = ClaimedProducer(
            request.transactional_id,
            request.producer.producer_id,
            request.producer.producer_epoch,
        )
        self._codes: dict[TopicPartition, ErrorCode] = {}

    def add(self, transactions: TransactionCoordinator) -> Outcome:
        return transactions.add_partitions(
            self._producer, self._partitions, _ANSWER, client_version=TV_2
        )

    def verify(self, transactions: TransactionCoordinator) -> Outcome:
        self._codes = transactions.verify_partitions(self._producer, self._partitions)
        return Outcome(response=_ANSWER)

    def refuse(self, error: KafkaError) -> AddPartitionsToTxnResult:
        self._codes = dict.fromkeys(self._partitions, error.code)
        return _ANSWER

    def reply(self, _answer: object) -> None:
        self._request.answer(self._codes)
