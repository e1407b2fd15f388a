"""Shortens the life of a delegation token, or deletes it (KIP-48). Version 2 is flexible."""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int16, Int32, Int64, Message, field


class ExpireDelegationTokenRequest(Message, api_key=40, versions="1-2", flexible="2+"):
    hmac: Bytes = field(default=b"", secret=True)
    expiry_time_period_ms: Int64 = 0


class ExpireDelegationTokenResponse(Message, api_key=40, versions="1-2", flexible="2+"):
    error_code: Int16 = 0
    expiry_timestamp_ms: Int64 = 0
    throttle_time_ms: Int32 = 0
