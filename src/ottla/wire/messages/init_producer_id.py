"""Gives a producer its id and epoch, and fences older producers of its transactional id (KIP-98).

Version 3 lets a producer keep its producer id (KIP-360). 4 may return PRODUCER_FENCED (KIP-588), 5
TRANSACTION_ABORTABLE (KIP-890). 6 is for two-phase commit with an external coordinator (KIP-939),
and is not stable yet.
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int16, Int32, Int64, Message, TransactionalId, field


class InitProducerIdRequest(Message, api_key=22, versions="0-6", stable="0-5", flexible="2+"):
    transactional_id: TransactionalId | None = ""
    transaction_timeout_ms: Int32 = 0
    producer_id: Int64 = field(default=-1, versions="3+")
    producer_epoch: Int16 = field(default=-1, versions="3+")
    enable2_pc: Bool = field(default=False, versions="6+")
    keep_prepared_txn: Bool = field(default=False, versions="6+")


class InitProducerIdResponse(Message, api_key=22, versions="0-6", stable="0-5", flexible="2+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = -1
    producer_epoch: Int16 = 0
    ongoing_txn_producer_id: Int64 = field(default=-1, versions="6+")
    ongoing_txn_producer_epoch: Int16 = field(default=-1, versions="6+")
