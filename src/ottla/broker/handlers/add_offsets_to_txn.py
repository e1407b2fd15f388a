"""AddOffsetsToTxn, versions 0 to 4: adds a group's offsets to a transaction.

It adds the group's partition of `__consumer_offsets`, and creates that topic if it does not exist.
Errors: INVALID_REQUEST without a transactional id, TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
GROUP_AUTHORIZATION_FAILED, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED (INVALID_PRODUCER_EPOCH up
to version 1), CONCURRENT_TRANSACTIONS while the markers of the previous transaction are being
written, and those of the coordinator itself.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.internal_topics import create_internal_topic
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.broker.transactions.transaction_requests import (
    TransactionRequests,
    answer_of,
    code_for_version,
)
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.versions import TV_0
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import CONSUMER_OFFSETS
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


_FENCED_VERSION: Final = 2


@handles(
    ApiKey.ADD_OFFSETS_TO_TXN,
    rights=(
        Right(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.READ, ResourceType.GROUP),
    ),
    is_within_transaction=True,
)
def add_offsets_to_txn(
    context: RequestContext,
    request: AddOffsetsToTxnRequest,
    *,
    cluster: ClusterView,
    changes: MetadataChanges,
    groups: CoordinatorShards[GroupCoordinator],
    transaction_requests: TransactionRequests,
) -> Message | Pending | Awaitable[Message]:
    if not request.transactional_id:
        return AddOffsetsToTxnResponse(error_code=ErrorCode.INVALID_REQUEST)
    try:
        rights = context.rights
        rights.require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
        rights.require(AclOperation.READ, ResourceType.GROUP, request.group_id)
    except KafkaError as error:
        return AddOffsetsToTxnResponse(error_code=error.code)
    if groups.partition_of(request.group_id) is None:
        return _create_and_add(cluster, changes, groups, transaction_requests, context, request)
    pending = Pending()
    _submit(groups, transaction_requests, context, request, pending.resolve)
    return pending.answer


async def _create_and_add(
    cluster: ClusterView,
    changes: MetadataChanges,
    groups: CoordinatorShards[GroupCoordinator],
    transaction_requests: TransactionRequests,
    context: RequestContext,
    request: AddOffsetsToTxnRequest,
) -> Message:
    try:
        await create_internal_topic(cluster, changes, CONSUMER_OFFSETS)
    except KafkaError as error:
        return AddOffsetsToTxnResponse(error_code=error.code)
    answer: Message = await answer_of(
        partial(_submit, groups, transaction_requests, context, request)
    )
    return answer


def _submit(
    groups: CoordinatorShards[GroupCoordinator],
    transaction_requests: TransactionRequests,
    context: RequestContext,
    request: AddOffsetsToTxnRequest,
    reply: Reply,
) -> None:
    partition = groups.partition_of(request.group_id)
    if partition is None:
        reply(AddOffsetsToTxnResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE))
        return
    partitions = frozenset({partition})
    producer = ClaimedProducer(
        request.transactional_id, request.producer_id, request.producer_epoch
    )

    def refuse(error: KafkaError) -> AddOffsetsToTxnResponse:
        version = context.api_version
        code = code_for_version(error.code, version=version, fenced_version=_FENCED_VERSION)
        return AddOffsetsToTxnResponse(error_code=code)

    transaction_requests.submit_patiently(
        request.transactional_id,
        # Clients of TransactionV2 do not send this request.
        lambda transactions: transactions.add_partitions(
            producer, partitions, AddOffsetsToTxnResponse(), client_version=TV_0
        ),
        reply,
        refuse,
    )
