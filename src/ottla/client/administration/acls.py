"""Access control lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ottla.client.administration.requests import (
    AdminRequests,
    Outcomes,
    node_error,
    outcome,
    require,
)
from ottla.client.administration.results import Results
from ottla.client.errors import ClientError
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
from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
)
from ottla.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

EVERY_ACL: Final = AclFilter()


class AclOperations(AdminRequests):
    """The methods of `Admin` for ACLs."""

    async def describe_acls(
        self, wanted: AclFilter = EVERY_ACL, *, timeout: float | None = None
    ) -> list[AclBinding]:
        """The ACLs that match a filter, in order."""
        answer = await self._ask_controller(
            "list ACLs",
            describe_request(wanted),
            timeout,
            lambda answer: require(answer.error_code, answer.error_message),
        )
        return sorted(described_bindings(answer))

    async def create_acls(
        self, bindings: Iterable[AclBinding], *, timeout: float | None = None
    ) -> Results[AclBinding, None]:
        """Creates ACLs; one that exists already stays as it is."""

        async def send(some: Sequence[AclBinding]) -> Outcomes[AclBinding, None]:
            request = CreateAclsRequest(creations=[creation(each) for each in some])
            answer = await self._cluster.send_to_controller(request)
            return {
                binding: outcome(None, each.error_code, each.error_message)
                for binding, each in zip(some, answer.results, strict=False)
            }

        return await self._in_requests("create ACLs", bindings, send, timeout)

    async def delete_acls(
        self, filters: Iterable[AclFilter], *, timeout: float | None = None
    ) -> Results[AclFilter, tuple[AclBinding, ...]]:
        """Deletes the ACLs that match one of the filters; returns what each has deleted."""

        async def send(some: Sequence[AclFilter]) -> Outcomes[AclFilter, tuple[AclBinding, ...]]:
            request = DeleteAclsRequest(filters=[_deletion(each) for each in some])
            answer = await self._cluster.send_to_controller(request)
            return {
                wanted: _deleted(each)
                for wanted, each in zip(some, answer.filter_results, strict=False)
            }

        return await self._in_requests("delete ACLs", filters, send, timeout)


def exact_filter(binding: AclBinding) -> AclFilter:
    """Matches this one only."""
    pattern, entry = binding
    return AclFilter(
        pattern.resource_type,
        pattern.name,
        pattern.pattern_type,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission,
    )


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
    return [_binding(resource, acl) for resource in response.resources for acl in resource.acls]


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


def _deletion(wanted: AclFilter) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=wanted.resource_type,
        resource_name_filter=wanted.name,
        pattern_type_filter=wanted.pattern_type,
        principal_filter=wanted.principal,
        host_filter=wanted.host,
        operation=wanted.operation,
        permission_type=wanted.permission,
    )


def _deleted(result: DeleteAclsFilterResult) -> tuple[AclBinding, ...] | ClientError:
    if result.error_code:
        return node_error(result.error_code, result.error_message)
    for each in result.matching_acls:
        if each.error_code:
            return node_error(each.error_code, each.error_message)
    return tuple(sorted(_binding(each, each) for each in result.matching_acls))


def _binding(resource: Any, entry: Any) -> AclBinding:
    """Of an answer's struct with the resource, and of one with the entry."""
    return AclBinding(
        ResourcePattern(
            ResourceType(resource.resource_type),
            resource.resource_name,
            PatternType(resource.pattern_type),
        ),
        AccessControlEntry(
            entry.principal,
            entry.host,
            AclOperation(entry.operation),
            Permission(entry.permission_type),
        ),
    )
