"""DescribeTransactions, version 0: the transactions of transactional ids and their partitions.

Topics that the client may not describe are left out. Errors per transactional id:
TRANSACTIONAL_ID_AUTHORIZATION_FAILED, INVALID_REQUEST for an empty one, TRANSACTIONAL_ID_NOT_FOUND,
and those of the coordinator itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.gathered import Gathered
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator


@handles(
    ApiKey.DESCRIBE_TRANSACTIONS,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
    ),
)
def describe_transactions(
    context: RequestContext,
    request: DescribeTransactionsRequest,
    *,
    transactions: CoordinatorShards[TransactionCoordinator],
) -> Message | Pending:
    gathered = Gathered(
        len(request.transactional_ids),
        lambda found: DescribeTransactionsResponse(transaction_states=list(found)),
    )
    for index, transactional_id in enumerate(request.transactional_ids):
        _describe(transactions, context.rights, transactional_id, gathered.reply(index))
    return gathered.pending.answer


def _describe(
    transactions: CoordinatorShards[TransactionCoordinator],
    rights: Rights,
    transactional_id: str,
    reply: Reply,
) -> None:
    def refuse(error: KafkaError) -> TransactionState:
        return TransactionState(error_code=error.code, transactional_id=transactional_id)

    if not transactional_id:
        reply(refuse(KafkaError(ErrorCode.INVALID_REQUEST, "a transactional id must not be empty")))
        return
    try:
        rights.require(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id)
    except KafkaError as error:
        reply(refuse(error))
        return

    def reply_visible(state: TransactionState) -> None:
        if not rights.is_unrestricted:
            visible = rights.allowed(
                AclOperation.DESCRIBE,
                ResourceType.TOPIC,
                (topic.topic for topic in state.topics),
                is_audited=False,
            )
            state.topics = [topic for topic in state.topics if topic.topic in visible]
        reply(state)

    transactions.submit(
        transactional_id,
        lambda transactions: Outcome(response=transactions.describe(transactional_id)),
        reply_visible,
        refuse,
    )
