"""AddPartitionsToTxn, versions 0 to 5: adds partitions to transactions, or verifies them.

Up to version 3 a client adds partitions to its transaction. From version 4 on partition leaders
send the request for many transactions: to verify partitions, or to add them for clients of
TransactionV2 (KIP-890). Errors per partition: UNKNOWN_TOPIC_OR_PARTITION,
TOPIC_AUTHORIZATION_FAILED, also for internal topics (only brokers add `__consumer_offsets`), and
then OPERATION_NOT_ATTEMPTED for all other partitions; TRANSACTION_ABORTABLE if a partition to
verify is not in the transaction. For all partitions: INVALID_REQUEST without a transactional id,
TRANSACTIONAL_ID_AUTHORIZATION_FAILED, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED
(INVALID_PRODUCER_EPOCH up to version 1), CONCURRENT_TRANSACTIONS while the markers of the previous
transaction are being written, and those of the coordinator itself. A request of brokers without
CLUSTER_ACTION has only CLUSTER_AUTHORIZATION_FAILED.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.gathered import Gathered
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.transactions.transaction_requests import (
    BROKER_PATIENCE_MS,
    CLIENT_PATIENCE_MS,
    TransactionRequests,
    code_for_version,
)
from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.coordinator.transactions.coordinator import TransactionCoordinator
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.versions import TV_0, TV_2
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.model.internal_topics import CONSUMER_OFFSETS, is_internal_topic
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import UNRESTRICTED, Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ottla.wire.schema import Message

_FENCED_VERSION: Final = 2
_BROKERS_VERSION: Final = 4


@handles(
    ApiKey.ADD_PARTITIONS_TO_TXN,
    rights=(
        Right(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.WRITE, ResourceType.TOPIC),
        Right(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER),
    ),
    is_within_transaction=True,
)
def add_partitions_to_txn(
    context: RequestContext,
    request: AddPartitionsToTxnRequest,
    *,
    cluster: ClusterView,
    transaction_requests: TransactionRequests,
) -> Message | Pending:
    rights = context.rights
    if context.api_version < _BROKERS_VERSION:
        pending = Pending()

        def reply(result: AddPartitionsToTxnResult) -> None:
            results = result.topic_results
            pending.resolve(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results))

        _handle(
            cluster,
            transaction_requests,
            context.api_version,
            rights,
            _transaction_of(request),
            reply,
        )
        return pending.answer
    if not rights.allows(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
        return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    gathered = Gathered(
        len(request.transactions),
        lambda results: AddPartitionsToTxnResponse(results_by_transaction=list(results)),
    )
    for index, transaction in enumerate(request.transactions):
        _handle(
            cluster,
            transaction_requests,
            context.api_version,
            UNRESTRICTED,
            transaction,
            gathered.reply(index),
        )
    return gathered.pending.answer


def _transaction_of(request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )


def _handle(
    cluster: ClusterView,
    transaction_requests: TransactionRequests,
    version: int,
    rights: Rights,
    transaction: AddPartitionsToTxnTransaction,
    reply: Reply,
) -> None:
    """`rights` are those of a client; a broker needs none for the transactional id and topics."""
    requested = _RequestedTransaction(version, transaction)
    if not requested.transactional_id:
        reply(requested.result(ErrorCode.INVALID_REQUEST))
        return
    if not rights.allows(
        AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, requested.transactional_id
    ):
        reply(requested.result(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
        return
    refused = _refused(cluster, version, rights, requested.partitions)
    if refused:
        reply(_result(requested.transactional_id, refused))
        return
    operation = requested.verify if transaction.verify_only else requested.add
    is_broker = version >= _BROKERS_VERSION
    transaction_requests.submit_patiently(
        requested.transactional_id,
        operation,
        reply,
        requested.refuse,
        patience_ms=BROKER_PATIENCE_MS if is_broker else CLIENT_PATIENCE_MS,
    )


class _RequestedTransaction:
    """The part of a request for one transaction."""

    def __init__(self, version: int, transaction: AddPartitionsToTxnTransaction) -> None:
        self._version = version
        self.transactional_id = transaction.transactional_id
        self._producer = ClaimedProducer(
            transaction.transactional_id, transaction.producer_id, transaction.producer_epoch
        )
        self.partitions = frozenset(
            [
                TopicPartition(topic.name, index)
                for topic in transaction.topics
                for index in topic.partitions
            ]
        )

    def add(self, transactions: TransactionCoordinator) -> Outcome:
        return transactions.add_partitions(
            self._producer,
            self.partitions,
            self.result(ErrorCode.NONE),
            client_version=TV_2 if self._version >= _BROKERS_VERSION else TV_0,
        )

    def verify(self, transactions: TransactionCoordinator) -> Outcome:
        codes = transactions.verify_partitions(self._producer, self.partitions)
        return Outcome(response=_result(self.transactional_id, codes))

    def refuse(self, error: KafkaError) -> AddPartitionsToTxnResult:
        return self.result(
            code_for_version(error.code, version=self._version, fenced_version=_FENCED_VERSION)
        )

    def result(self, code: ErrorCode) -> AddPartitionsToTxnResult:
        """A result with the same code for all partitions."""
        return _result(self.transactional_id, dict.fromkeys(self.partitions, code))


def _refused(
    cluster: ClusterView, version: int, rights: Rights, partitions: frozenset[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """Error codes for all partitions if any cannot be added to a transaction, else empty."""
    topics = cluster.image.topics.by_name
    codes = {}
    for name in partitions:
        topic = topics.get(name.topic)
        is_addable = version >= _BROKERS_VERSION and name.topic == CONSUMER_OFFSETS
        is_refused = is_internal_topic(name.topic) and not is_addable
        if is_refused or not rights.allows(AclOperation.WRITE, ResourceType.TOPIC, name.topic):
            codes[name] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif topic is None or name.partition not in topic.partitions:
            codes[name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not codes:
        return codes
    return {name: codes.get(name, ErrorCode.OPERATION_NOT_ATTEMPTED) for name in partitions}


def _result(
    transactional_id: str, codes: Mapping[TopicPartition, ErrorCode]
) -> AddPartitionsToTxnResult:
    topics: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
    for (topic, index), code in sorted(codes.items()):
        result = AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
        topics.setdefault(topic, []).append(result)
    return AddPartitionsToTxnResult(
        transactional_id=transactional_id,
        topic_results=[
            AddPartitionsToTxnTopicResult(name=topic, results_by_partition=results)
            for topic, results in topics.items()
        ],
    )
