"""Filters of DescribeAcls and DeleteAcls."""

from __future__ import annotations

from typing import NamedTuple

from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import (
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.wire.messages.delete_acls import DeleteAclsFilter
from ottla.wire.messages.describe_acls import DescribeAclsRequest


class AclFilter(NamedTuple):
    """None and ANY match everything. Other values are compared as they are stored: a host `*`
    matches only entries for all hosts."""

    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: Permission = Permission.ANY

    @classmethod
    def of_request(cls, request: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
        """Raises KafkaError for codes that this version does not know."""
        parsed = cls(
            ResourceType(request.resource_type_filter),
            request.resource_name_filter,
            PatternType(request.pattern_type_filter),
            request.principal_filter,
            request.host_filter,
            AclOperation(request.operation),
            Permission(request.permission_type),
        )
        if (
            parsed.resource_type is ResourceType.UNKNOWN
            or parsed.pattern_type is PatternType.UNKNOWN
            or parsed.operation is AclOperation.UNKNOWN
            or parsed.permission is Permission.UNKNOWN
        ):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "a filter has an unknown resource type, pattern type, operation or permission",
            )
        return parsed

    def matches(self, binding: AclBinding) -> bool:
        entry = binding.entry
        return (
            self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (AclOperation.ANY, entry.operation)
            and self.permission in (Permission.ANY, entry.permission)
            and self.resource_type in (ResourceType.ANY, binding.pattern.resource_type)
            and self._matches_name(binding.pattern)
        )

    def _matches_name(self, pattern: ResourcePattern) -> bool:
        """MATCH finds the patterns that apply to a resource of that name."""
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, pattern.pattern_type):
            return False
        if self.name is None:
            return True
        if self.pattern_type is PatternType.MATCH:
            return pattern.matches(self.name)
        return pattern.name == self.name
