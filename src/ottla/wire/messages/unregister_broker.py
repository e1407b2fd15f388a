"""Unregisters a broker that will not return (KIP-631)."""

from __future__ import annotations

from ottla.wire.schema import Int16, Int32, Message, MessageText


class UnregisterBrokerRequest(Message, api_key=64, versions="0", flexible="0+"):
    broker_id: Int32 = 0


class UnregisterBrokerResponse(Message, api_key=64, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
