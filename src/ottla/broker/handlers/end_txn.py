"""EndTxn, versions 0 to 5: commits or aborts a transaction.

The response is sent when the coordinator has committed the decision; the markers are written after
that. From version 5 on (TransactionV2) it has the producer id and epoch of the next transaction.
Errors: INVALID_REQUEST without a transactional id, TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED (INVALID_PRODUCER_EPOCH up to version 1),
INVALID_TXN_STATE, CONCURRENT_TRANSACTIONS while the markers are being written, and those of the
coordinator itself.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.transactions.transaction_requests import TransactionRequests, code_for_version
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.versions import TV_0, TV_2
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.busy_poll import BusyPoll
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.wire.schema import Message

_FENCED_VERSION: Final = 2
_TRANSACTION_V2_VERSION: Final = 5


@handles(ApiKey.END_TXN, rights=(Right(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID),))
def end_txn(
    context: RequestContext,
    request: EndTxnRequest,
    *,
    busy_poll: BusyPoll,
    transaction_requests: TransactionRequests,
) -> Message | Pending:
    busy_poll.end()
    version = context.api_version
    if not request.transactional_id:
        return EndTxnResponse(error_code=ErrorCode.INVALID_REQUEST)
    if not context.rights.allows(
        AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id
    ):
        return EndTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    producer = ClaimedProducer(
        request.transactional_id, request.producer_id, request.producer_epoch
    )

    def refuse(error: KafkaError) -> EndTxnResponse:
        code = code_for_version(error.code, version=version, fenced_version=_FENCED_VERSION)
        return EndTxnResponse(error_code=code)

    pending = Pending()
    transaction_requests.submit_patiently(
        request.transactional_id,
        lambda transactions: transactions.end(
            producer,
            commits=request.committed,
            client_version=TV_2 if version >= _TRANSACTION_V2_VERSION else TV_0,
        ),
        pending.resolve,
        refuse,
    )
    return pending.answer
