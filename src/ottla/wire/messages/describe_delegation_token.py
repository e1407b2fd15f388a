"""Returns the delegation tokens that the caller may see (KIP-48).

Version 3 returns who requested a token (KIP-373).
"""

from __future__ import annotations

from ottla.wire.schema import Bytes, Int16, Int32, Int64, Message, Struct, Text, UserText, field


class DescribeDelegationTokenOwner(Struct):
    principal_type: Text = ""
    principal_name: UserText = ""


class DescribeDelegationTokenRequest(Message, api_key=41, versions="1-3", flexible="2+"):
    owners: list[DescribeDelegationTokenOwner] | None = field(factory=list)


class DescribedDelegationTokenRenewer(Struct):
    principal_type: Text = ""
    principal_name: UserText = ""


class DescribedDelegationToken(Struct):
    principal_type: Text = ""
    principal_name: UserText = ""
    token_requester_principal_type: Text = field(default="", versions="3+")
    token_requester_principal_name: UserText = field(default="", versions="3+")
    issue_timestamp: Int64 = 0
    expiry_timestamp: Int64 = 0
    max_timestamp: Int64 = 0
    token_id: Text = ""
    hmac: Bytes = field(default=b"", secret=True)
    renewers: list[DescribedDelegationTokenRenewer] = field(factory=list)


class DescribeDelegationTokenResponse(Message, api_key=41, versions="1-3", flexible="2+"):
    error_code: Int16 = 0
    tokens: list[DescribedDelegationToken] = field(factory=list)
    throttle_time_ms: Int32 = 0
