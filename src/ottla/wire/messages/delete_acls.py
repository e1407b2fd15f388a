"""Deletes the ACLs that match one of several filters (KIP-140).

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


class DeleteAclsFilter(Struct):
    resource_type_filter: Int8 = 0
    resource_name_filter: AclResourceName | None = ""
    pattern_type_filter: Int8 = 3
    principal_filter: PrincipalText | None = ""
    host_filter: Text | None = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsRequest(Message, api_key=31, versions="1-3", flexible="2+"):
    filters: list[DeleteAclsFilter] = field(factory=list)


class DeleteAclsMatchingAcl(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    resource_type: Int8 = 0
    resource_name: AclResourceName = ""
    pattern_type: Int8 = 3
    principal: PrincipalText = ""
    host: Text = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsFilterResult(Struct):
    error_code: Int16 = 0
    error_message: MessageText | None = ""
    matching_acls: list[DeleteAclsMatchingAcl] = field(factory=list)


class DeleteAclsResponse(Message, api_key=31, versions="1-3", flexible="2+"):
    throttle_time_ms: Int32 = 0
    filter_results: list[DeleteAclsFilterResult] = field(factory=list)
