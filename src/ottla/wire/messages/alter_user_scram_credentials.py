"""Sets and deletes SCRAM credentials (KIP-554). The client salts and hashes the password.

Mechanism 1 is SCRAM-SHA-256, 2 is SCRAM-SHA-512.
"""

from __future__ import annotations

from ottla.wire.schema import (
    Bytes,
    Int8,
    Int16,
    Int32,
    Message,
    MessageText,
    Struct,
    UserText,
    field,
)


class ScramCredentialDeletion(Struct):
    name: UserText = ""
    mechanism: Int8 = 0


class ScramCredentialUpsertion(Struct):
    name: UserText = ""
    mechanism: Int8 = 0
    iterations: Int32 = 0
    salt: Bytes = field(default=b"", secret=True)
    salted_password: Bytes = field(default=b"", secret=True)


class AlterUserScramCredentialsRequest(Message, api_key=51, versions="0", flexible="0+"):
    deletions: list[ScramCredentialDeletion] = field(factory=list)
    upsertions: list[ScramCredentialUpsertion] = field(factory=list)


class AlterUserScramCredentialsResult(Struct):
    user: UserText = ""
    error_code: Int16 = 0
    error_message: MessageText | None = ""


class AlterUserScramCredentialsResponse(Message, api_key=51, versions="0", flexible="0+"):
    throttle_time_ms: Int32 = 0
    results: list[AlterUserScramCredentialsResult] = field(factory=list)
