"""Creates ACLs (KIP-140).

Version 1 has prefixed patterns (KIP-290), 3 the resource type USER (KIP-373).
"""

from __future__ import annotations

from ottla.wire.schema import (
    AclResourceName,
    Int8,
    Int16,
    Int32,
    Message,
    MessageText,
    PrincipalText,
    Struct,
    Text,
    field,
)


class AclCreation(Struct):
    resource_type: Int8 = 0
    resource_name: AclResourceName = ""
    resource_pattern_type: Int8 = 3
    principal: PrincipalText = ""
    host: Text = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class CreateAclsRequest(Message, api_key=30, versions="1-3", flexible="2+"):
    creations: list[AclCreation] = field(factory=list)


class AclCreationResult(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = ""


class CreateAclsResponse(Message, api_key=30, versions="1-3", flexible="2+"):
    throttle_time_ms: Int32 = 0
    results: list[AclCreationResult] = field(factory=list)
