"""ACLs in requests and responses."""

from __future__ import annotations

from ottla.security.acls.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.acl_filter import AclFilter
from ottla.wire.messages.create_acls import AclCreation
from ottla.wire.messages.delete_acls import DeleteAclsFilter
from ottla.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def describe_request(wanted: AclFilter) -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=wanted.resource_type,
        resource_name_filter=wanted.name,
        pattern_type_filter=wanted.pattern_type,
        principal_filter=wanted.principal,
        host_filter=wanted.host,
        operation=wanted.operation,
        permission_type=wanted.permission,
    )


def described_bindings(response: DescribeAclsResponse) -> list[AclBinding]:
    return [
        AclBinding(
            ResourcePattern(
                ResourceType(resource.resource_type),
                resource.resource_name,
                PatternType(resource.pattern_type),
            ),
            AccessControlEntry(
                acl.principal,
                acl.host,
                AclOperation(acl.operation),
                Permission(acl.permission_type),
            ),
        )
        for resource in response.resources
        for acl in resource.acls
    ]


def creation(binding: AclBinding) -> AclCreation:
    pattern, entry = binding
    return AclCreation(
        resource_type=pattern.resource_type,
        resource_name=pattern.name,
        resource_pattern_type=pattern.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def exact_filter(binding: AclBinding) -> DeleteAclsFilter:
    """Matches this one only."""
    pattern, entry = binding
    return DeleteAclsFilter(
        resource_type_filter=pattern.resource_type,
        resource_name_filter=pattern.name,
        pattern_type_filter=pattern.pattern_type,
        principal_filter=entry.principal,
        host_filter=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )
