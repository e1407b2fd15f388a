"""Access control entries (KIP-801), SCRAM credentials (KIP-84) and delegation tokens (KIP-48)."""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Bytes, Int8, Int32, Int64, Message, String, Uuid, field


class AccessControlEntryRecord(Message, api_key=18, versions="0", flexible="0+"):
    id: Uuid = ZERO_UUID
    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Int8 = 0
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class RemoveAccessControlEntryRecord(Message, api_key=19, versions="0", flexible="0+"):
    id: Uuid = ZERO_UUID


class UserScramCredentialRecord(Message, api_key=11, versions="0", flexible="0+"):
    name: String = ""
    mechanism: Int8 = 0
    salt: Bytes = field(default=b"", secret=True)
    stored_key: Bytes = field(default=b"", secret=True)
    server_key: Bytes = field(default=b"", secret=True)
    iterations: Int32 = 0


class RemoveUserScramCredentialRecord(Message, api_key=22, versions="0", flexible="0+"):
    name: String = ""
    mechanism: Int8 = 0


class DelegationTokenRecord(Message, api_key=10, versions="0", flexible="0+"):
    owner: String = ""
    requester: String = ""
    renewers: list[String] = field(factory=list)
    issue_timestamp: Int64 = 0
    max_timestamp: Int64 = 0
    expiration_timestamp: Int64 = 0
    token_id: String = ""


class RemoveDelegationTokenRecord(Message, api_key=26, versions="0", flexible="0+"):
    token_id: String = ""
