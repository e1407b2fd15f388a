"""InitProducerId, versions 0 to 5: allocates a producer id and epoch.

A producer without a transactional id always gets a new producer id, even if the request names its
current one. A producer with a transactional id gets the next epoch, and the previous producer is
fenced; an ongoing transaction is aborted first, and the response is CONCURRENT_TRANSACTIONS. Other
errors: TRANSACTIONAL_ID_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED without a transactional
id, INVALID_REQUEST for an empty transactional id or only one of producer id and epoch,
INVALID_TRANSACTION_TIMEOUT, PRODUCER_FENCED (INVALID_PRODUCER_EPOCH up to version 3), those of the
coordinator itself, and those of the controller if it allocates no producer ids.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Final

from ottla.broker.control.producer_ids import ProducerIds
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.transactions.transaction_requests import (
    TransactionRequests,
    answer_of,
    code_for_version,
)
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.coordinator.transactions.initializing import ExpectedProducer
from ottla.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.wire.schema import Message

_FENCED_VERSION: Final = 4


@handles(
    ApiKey.INIT_PRODUCER_ID,
    rights=(
        Right(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.TWO_PHASE_COMMIT, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.IDEMPOTENT_WRITE, ResourceType.CLUSTER),
        Right(AclOperation.WRITE, ResourceType.TOPIC),
    ),
)
def init_producer_id(
    context: RequestContext,
    request: InitProducerIdRequest,
    *,
    producer_ids: ProducerIds,
    transaction_requests: TransactionRequests,
) -> Message | Pending | Awaitable[Message]:
    has_id = request.producer_id != NO_PRODUCER_ID
    has_epoch = request.producer_epoch != NO_PRODUCER_EPOCH
    if has_id != has_epoch or request.transactional_id == "":
        return _refuse(ErrorCode.INVALID_REQUEST)
    try:
        _check_rights(context.rights, request)
    except KafkaError as error:
        return _refuse(error.code)
    if not producer_ids.has_any:
        return _wait_for_ids(producer_ids, transaction_requests, context, request)
    if request.transactional_id is None:
        producer_id = producer_ids.take_nowait()
        assert producer_id is not None
        return InitProducerIdResponse(producer_id=producer_id)
    pending = Pending()
    _submit(transaction_requests, context, request, pending.resolve)
    return pending.answer


def _check_rights(rights: Rights, request: InitProducerIdRequest) -> None:
    transactional_id = request.transactional_id
    if transactional_id is None:
        # A client that may write to any topic may also write idempotently (KIP-679).
        if not rights.allows_quietly(
            AclOperation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, CLUSTER_NAME
        ) and not rights.allows_any(AclOperation.WRITE, ResourceType.TOPIC):
            raise KafkaError(
                ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
                f"{rights.principal} may neither WRITE to any topic nor IDEMPOTENT_WRITE on the "
                "cluster; an administrator can add an ACL that allows one of them",
            )
        return
    rights.require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id)
    if request.enable2_pc:
        rights.require(
            AclOperation.TWO_PHASE_COMMIT, ResourceType.TRANSACTIONAL_ID, transactional_id
        )


async def _wait_for_ids(
    producer_ids: ProducerIds,
    transaction_requests: TransactionRequests,
    context: RequestContext,
    request: InitProducerIdRequest,
) -> Message:
    try:
        if request.transactional_id is None:
            return InitProducerIdResponse(producer_id=await producer_ids.take())
        await producer_ids.wait_any()
    except KafkaError as error:
        return _refuse(error.code)
    answer: Message = await answer_of(partial(_submit, transaction_requests, context, request))
    return answer


def _submit(
    transaction_requests: TransactionRequests,
    context: RequestContext,
    request: InitProducerIdRequest,
    reply: Reply,
) -> None:
    assert request.transactional_id
    expected = None
    if request.producer_id != NO_PRODUCER_ID:
        expected = ExpectedProducer(request.producer_id, request.producer_epoch)

    def refuse(error: KafkaError) -> InitProducerIdResponse:
        version = context.api_version
        return _refuse(
            code_for_version(error.code, version=version, fenced_version=_FENCED_VERSION)
        )

    transaction_requests.submit_patiently(
        request.transactional_id,
        lambda transactions: transactions.init_producer_id(request, expected),
        reply,
        refuse,
    )


def _refuse(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_epoch=NO_PRODUCER_EPOCH)
