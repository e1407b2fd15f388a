"""Lists the transactional ids that a broker coordinates (KIP-664).

Version 1 filters by the duration of open transactions (KIP-994), 2 by a regular expression
(KIP-1152).
"""

from __future__ import annotations

from ottla.wire.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    Struct,
    Text,
    TransactionalId,
    TransactionalIdPattern,
    field,
)


class ListTransactionsRequest(Message, api_key=66, versions="0-2", flexible="0+"):
    state_filters: list[Text] = field(factory=list)
    producer_id_filters: list[Int64] = field(factory=list)
    duration_filter: Int64 = field(default=-1, versions="1+")
    transactional_id_pattern: TransactionalIdPattern | None = field(default=None, versions="2+")


class TransactionState(Struct):
    transactional_id: TransactionalId = ""
    producer_id: Int64 = 0
    transaction_state: Text = ""


class ListTransactionsResponse(Message, api_key=66, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    unknown_state_filters: list[Text] = field(factory=list)
    transaction_states: list[TransactionState] = field(factory=list)
