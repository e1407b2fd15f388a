"""ListTransactions, versions 0 to 2: lists the transactional ids whose coordinator is this node.

Filters by state and producer id, from version 1 on also by duration, from version 2 on also by a
regular expression for transactional ids. Ids that the client may not describe are left out. The
response names unknown states of the filter. Errors: COORDINATOR_LOAD_IN_PROGRESS while any of the
partitions is being loaded, COORDINATOR_NOT_AVAILABLE, INVALID_REGULAR_EXPRESSION.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.fan_out import list_all
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.coordinator.groups.consumer.pattern import Pattern, PatternError
from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.transactions.coordinator import TransactionCoordinator
from ottla.coordinator.transactions.describing import TransactionFilter
from ottla.coordinator.transactions.states import STATES_BY_TITLE
from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from ottla.wire.schema import Message


@handles(
    ApiKey.LIST_TRANSACTIONS, rights=(Right(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),)
)
def list_transactions(
    context: RequestContext,
    request: ListTransactionsRequest,
    *,
    transactions: CoordinatorShards[TransactionCoordinator],
) -> Message | Pending:
    try:
        transaction_filter = _filter(request)
    except PatternError:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    unknown = [name for name in request.state_filters if name not in STATES_BY_TITLE]

    def listing(transactions: TransactionCoordinator) -> Outcome:
        found = transactions.list_transactions(transaction_filter)
        return Outcome(response=ListTransactionsResponse(transaction_states=found))

    def combine(found: Sequence[ListTransactionsResponse]) -> ListTransactionsResponse:
        return ListTransactionsResponse(
            unknown_state_filters=unknown,
            transaction_states=_visible(
                context.rights, [each for response in found for each in response.transaction_states]
            ),
        )

    return list_all(transactions, listing, ListTransactionsResponse, combine)


def _visible(rights: Rights, found: list[TransactionState]) -> list[TransactionState]:
    """Leaves out the transactional ids that the client may not describe."""
    if rights.is_unrestricted:
        return found
    visible = rights.allowed(
        AclOperation.DESCRIBE,
        ResourceType.TRANSACTIONAL_ID,
        (each.transactional_id for each in found),
        is_audited=False,
    )
    return [each for each in found if each.transactional_id in visible]


def _filter(request: ListTransactionsRequest) -> TransactionFilter:
    states = {STATES_BY_TITLE.get(name) for name in request.state_filters}
    return TransactionFilter(
        states={each for each in states if each is not None} if states else None,
        producer_ids=frozenset(request.producer_id_filters),
        duration_ms=request.duration_filter,
        id_matches=_matcher(request.transactional_id_pattern),
    )


def _matcher(pattern: str | None) -> Callable[[str], bool]:
    return Pattern(pattern).matches if pattern else lambda _transactional_id: True
