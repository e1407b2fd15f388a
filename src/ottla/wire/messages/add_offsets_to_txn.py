"""Adds a group's partition of `__consumer_offsets` to a transaction (KIP-98).

Version 2 may return PRODUCER_FENCED (KIP-588), 4 TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from ottla.wire.schema import GroupId, Int16, Int32, Int64, Message, TransactionalId


class AddOffsetsToTxnRequest(Message, api_key=25, versions="0-4", flexible="3+"):
    transactional_id: TransactionalId = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    group_id: GroupId = ""


class AddOffsetsToTxnResponse(Message, api_key=25, versions="0-4", flexible="3+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
