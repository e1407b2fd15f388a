"""Returns the ACLs that match a filter (KIP-140).

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


class DescribeAclsRequest(Message, api_key=29, versions="1-3", flexible="2+"):
    resource_type_filter: Int8 = 0
    resource_name_filter: AclResourceName | None = ""
    pattern_type_filter: Int8 = 3
    principal_filter: PrincipalText | None = ""
    host_filter: Text | None = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class AclDescription(Struct):
    principal: PrincipalText = ""
    host: Text = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DescribeAclsResource(Struct):
    resource_type: Int8 = 0
    resource_name: AclResourceName = ""
    pattern_type: Int8 = 3
    acls: list[AclDescription] = field(factory=list)


class DescribeAclsResponse(Message, api_key=29, versions="1-3", flexible="2+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    resources: list[DescribeAclsResource] = field(factory=list)
