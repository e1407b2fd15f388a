"""Commits or aborts a transaction.

Version 2 may return PRODUCER_FENCED (KIP-588), 4 TRANSACTION_ABORTABLE. 5 is TransactionV2
(KIP-890): the response has the producer id and epoch of the next transaction.
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int16, Int32, Int64, Message, TransactionalId, field


class EndTxnRequest(Message, api_key=26, versions="0-5", flexible="3+"):
    transactional_id: TransactionalId = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    committed: Bool = False


class EndTxnResponse(Message, api_key=26, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = field(default=-1, versions="5+")
    producer_epoch: Int16 = field(default=-1, versions="5+")
