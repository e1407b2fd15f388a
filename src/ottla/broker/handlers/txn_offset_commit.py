"""TxnOffsetCommit, versions 0 to 5: stores the offsets of a group in a transaction.

The transaction coordinator first verifies that the group's partition of `__consumer_offsets` is in
the transaction; from version 5 on (TransactionV2) it adds the partition. Errors per partition:
TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, OFFSET_METADATA_TOO_LARGE; for all
partitions: TRANSACTIONAL_ID_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED, UNKNOWN_MEMBER_ID,
FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INVALID_GROUP_ID, INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE,
POLICY_VIOLATION for a tenant or a user that has too many groups, those of the group coordinator,
and those of the transaction coordinator.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_requests import take_unknown
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.network.refused_topics import refused_topics
from ottla.broker.producing.owner_limits import OwnerLimits
from ottla.broker.transactions.transaction_verification import TransactionVerification
from ottla.broker.transactions.verification_requests import (
    TransactionalProducer,
    UnverifiedBatch,
    Verified,
    supported_by_offset_commit,
)
from ottla.coordinator.runtime.transactional import TransactionalWriter
from ottla.metrics import Metrics
from ottla.metrics.table.shares import SHARE_REDRIVEN
from ottla.model import NO_SEQUENCE, ErrorCode, KafkaError, TopicPartition
from ottla.replication.partitions import Partitions
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.shares.redrive import redriven_count
from ottla.wire.apis import ApiKey
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


# Older clients do not know COORDINATOR_LOAD_IN_PROGRESS.
_LOADING_VERSION: Final = 2


@handles(
    ApiKey.TXN_OFFSET_COMMIT,
    rights=(
        Right(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.READ, ResourceType.GROUP),
        Right(AclOperation.READ, ResourceType.TOPIC),
    ),
    is_within_transaction=True,
)
def txn_offset_commit(
    context: RequestContext,
    request: TxnOffsetCommitRequest,
    *,
    cluster: ClusterView,
    partitions: Partitions,
    verification: TransactionVerification,
    groups: CoordinatorShards[GroupCoordinator],
    owner_limits: OwnerLimits,
    metrics: Metrics,
) -> Message | Pending:
    error = _group_error(context.rights, request)
    if not error:
        try:
            owner_limits.groups.check(context.rights.principal.name, request.group_id)
        except KafkaError as beyond:
            error = beyond.code
    if error:
        return TxnOffsetCommitResponse(
            topics=[_refused_whole(topic, error) for topic in request.topics]
        )
    refused = _take_refused(cluster, context.rights, request)
    if refused and not request.topics:
        return TxnOffsetCommitResponse(topics=refused)
    _count_redriven(metrics, request)
    return _Commit(groups, partitions, verification, context, request, refused).run()


def _count_redriven(metrics: Metrics, request: TxnOffsetCommitRequest) -> None:
    """Dead letters that `ottla shares redrive` sends back in this transaction."""
    texts = (each.committed_metadata for topic in request.topics for each in topic.partitions)
    if redriven := redriven_count(request.group_id, texts):
        metrics.counter(SHARE_REDRIVEN).add(redriven)


class _Commit:
    """One request: verified, then written, then responded to."""

    __slots__ = (
        "_groups",
        "_partitions",
        "_pending",
        "_refused",
        "_request",
        "_verification",
        "_version",
    )

    def __init__(
        self,
        groups: CoordinatorShards[GroupCoordinator],
        partitions: Partitions,
        verification: TransactionVerification,
        context: RequestContext,
        request: TxnOffsetCommitRequest,
        refused: list[TxnOffsetCommitResponseTopic],
    ) -> None:
        self._groups = groups
        self._partitions = partitions
        self._verification = verification
        self._request = request
        self._refused = refused
        self._version = context.api_version
        self._pending = Pending()

    def run(self) -> Message | Pending:
        request = self._request
        name = self._groups.partition_of(request.group_id)
        partition = None if name is None else self._partitions.get(name)
        if not request.group_id:
            self._refuse(ErrorCode.INVALID_GROUP_ID)
        elif partition is None:
            self._refuse(ErrorCode.NOT_COORDINATOR)
        else:
            self._verification.verify(
                TransactionalProducer(
                    request.transactional_id, request.producer_id, request.producer_epoch
                ),
                [UnverifiedBatch(partition, NO_SEQUENCE)],
                supported_by_offset_commit(self._version),
                partial(self._write, partition.name),
            )
        return self._pending.answer

    def _write(self, name: TopicPartition, verified: Verified) -> None:
        error = verified.errors.get(name)
        if error is not None:
            self._refuse(_client_error(error))
            return
        request, guard = self._request, verified.verifications.get(name)
        self._groups.submit(
            request.group_id,
            lambda groups: groups.commit_in_transaction(request),
            self._reply,
            lambda error: self._refusal(error.code),
            writer=TransactionalWriter(request.producer_id, request.producer_epoch, guard),
        )

    def _reply(self, response: TxnOffsetCommitResponse) -> None:
        response.topics += self._refused
        self._pending.resolve(response)

    def _refuse(self, error: ErrorCode) -> None:
        self._reply(self._refusal(error))

    def _refusal(self, error: ErrorCode) -> TxnOffsetCommitResponse:
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and self._version < _LOADING_VERSION:
            error = ErrorCode.COORDINATOR_NOT_AVAILABLE
        return TxnOffsetCommitResponse(
            topics=[_refused_whole(topic, error) for topic in self._request.topics]
        )


def _client_error(error: ErrorCode) -> ErrorCode:
    """Translates an error of the verification to a retriable one that clients know. An unreachable
    transaction coordinator must not make them look for a new group coordinator."""
    if error is ErrorCode.NETWORK_EXCEPTION:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        return ErrorCode.NOT_COORDINATOR
    return error


def _group_error(rights: Rights, request: TxnOffsetCommitRequest) -> ErrorCode:
    if not rights.allows(
        AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id
    ):
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if not rights.allows(AclOperation.READ, ResourceType.GROUP, request.group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ErrorCode.NONE


def _take_refused(
    cluster: ClusterView, rights: Rights, request: TxnOffsetCommitRequest
) -> list[TxnOffsetCommitResponseTopic]:
    """Removes unauthorized topics and unknown partitions from the request and returns their
    errors."""
    refused, accepted = [], []
    unauthorized = refused_topics(rights, AclOperation.READ, request.topics)
    for requested in request.topics:
        if requested.name in unauthorized:
            refused.append(_refused_whole(requested, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            continue
        topic = cluster.image.topics.by_name.get(requested.name)
        known = {} if topic is None else topic.partitions
        unknown = take_unknown(requested, known)
        if unknown:
            refused.append(_refused(requested, unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if requested.partitions:
            accepted.append(requested)
    request.topics = accepted
    return refused


def _refused_whole(
    topic: TxnOffsetCommitRequestTopic, error: ErrorCode
) -> TxnOffsetCommitResponseTopic:
    return _refused(topic, [each.partition_index for each in topic.partitions], error)


def _refused(
    topic: TxnOffsetCommitRequestTopic, indexes: list[int], error: ErrorCode
) -> TxnOffsetCommitResponseTopic:
    return TxnOffsetCommitResponseTopic(
        name=topic.name,
        partitions=[
            TxnOffsetCommitResponsePartition(partition_index=index, error_code=error)
            for index in indexes
        ],
    )
