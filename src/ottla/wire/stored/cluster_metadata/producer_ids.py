"""Blocks of producer ids allocated to brokers (KIP-730)."""

from __future__ import annotations

from ottla.wire.schema import Int32, Int64, Message


class ProducerIdsRecord(Message, api_key=15, versions="0", flexible="0+"):
    broker_id: Int32 = 0
    broker_epoch: Int64 = -1
    next_producer_id: Int64 = 0
