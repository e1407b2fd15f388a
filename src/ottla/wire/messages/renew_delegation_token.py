"""Extends the life of a delegation token (KIP-48). Version 2 is flexible."""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int16, Int32, Int64, Message, field


class RenewDelegationTokenRequest(Message, api_key=39, versions="1-2", flexible="2+"):
    hmac: Bytes = field(default=b"", secret=True)
    renew_period_ms: Int64 = 0


class RenewDelegationTokenResponse(Message, api_key=39, versions="1-2", flexible="2+"):
    error_code: Int16 = 0
    expiry_timestamp_ms: Int64 = 0
    throttle_time_ms: Int32 = 0
