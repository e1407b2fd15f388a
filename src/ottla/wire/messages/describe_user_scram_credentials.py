"""Returns which SCRAM credentials users have, never their salts and keys (KIP-554).

Mechanism 1 is SCRAM-SHA-256, 2 is SCRAM-SHA-512.
"""

from __future__ import annotations

from ottla.wire.schema import Int8, Int16, Int32, Message, MessageText, Struct, UserText, field


class UserName(Struct):
    name: UserText = ""


class DescribeUserScramCredentialsRequest(Message, api_key=50, versions="0", flexible="0+"):
    users: list[UserName] | None = field(factory=list)


class CredentialInfo(Struct):
    mechanism: Int8 = 0
    iterations: Int32 = 0


class DescribeUserScramCredentialsResult(Struct):
    user: UserText = ""
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    credential_infos: list[CredentialInfo] = field(factory=list)


class DescribeUserScramCredentialsResponse(Message, api_key=50, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    results: list[DescribeUserScramCredentialsResult] = field(factory=list)
