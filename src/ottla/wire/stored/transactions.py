"""Records of `__transaction_state`: the state of each transactional id (KIP-98).

Version 1 is flexible and has the producer ids that TransactionV2 needs (KIP-890).
"""

from __future__ import annotations

from ottla.wire.schema import Int8, Int16, Int32, Int64, Message, String, Struct, field


class TransactionLogKey(Message, api_key=0, versions="0"):
    transactional_id: String = ""


class PartitionsSchema(Struct):
    topic: String = ""
    partition_ids: list[Int32] = field(factory=list)


class TransactionLogValue(Message, api_key=0, versions="0-1", flexible="1+"):
    producer_id: Int64 = 0
    previous_producer_id: Int64 = field(default=-1, versions="1+", tag=0)
    next_producer_id: Int64 = field(default=-1, versions="1+", tag=1)
    producer_epoch: Int16 = 0
    next_producer_epoch: Int16 = field(default=-1, versions="1+", tag=3)
    transaction_timeout_ms: Int32 = 0
    transaction_status: Int8 = 0
    transaction_partitions: list[PartitionsSchema] | None = field(factory=list)
    transaction_last_update_timestamp_ms: Int64 = 0
    transaction_start_timestamp_ms: Int64 = 0
    client_transaction_version: Int16 = field(default=0, versions="1+", tag=2)
