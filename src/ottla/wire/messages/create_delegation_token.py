"""Creates a delegation token: an id and an HMAC that a client authenticates with (KIP-48).

Version 3 creates tokens for another owner (KIP-373).
"""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int16, Int32, Int64, Message, Struct, Text, UserText, field


class CreatableRenewers(Struct):
    principal_type: Text = ""
    principal_name: UserText = ""


class CreateDelegationTokenRequest(Message, api_key=38, versions="1-3", flexible="2+"):
    owner_principal_type: Text | None = field(default="", versions="3+")
    owner_principal_name: UserText | None = field(default="", versions="3+")
    renewers: list[CreatableRenewers] = field(factory=list)
    max_lifetime_ms: Int64 = 0


class CreateDelegationTokenResponse(Message, api_key=38, versions="1-3", flexible="2+"):
    error_code: Int16 = 0
    principal_type: Text = ""
    principal_name: UserText = ""
    token_requester_principal_type: Text = field(default="", versions="3+")
    token_requester_principal_name: UserText = field(default="", versions="3+")
    issue_timestamp_ms: Int64 = 0
    expiry_timestamp_ms: Int64 = 0
    max_timestamp_ms: Int64 = 0
    token_id: Text = ""
    hmac: Bytes = field(default=b"", secret=True)
    throttle_time_ms: Int32 = 0
