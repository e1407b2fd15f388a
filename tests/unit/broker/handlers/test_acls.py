"""Access control entries, as clients of a node create, see and delete them."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.security.acls.acl import (
    CLUSTER_NAME,
    AclOperation,
    PatternType,
    Permission,
    ResourceType,
)
from ottla.security.acls.rights import Rights
from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from tests.support.nodes.one_node import OneNode
from tests.support.security.acls import ALICE, acl, rights_of
from tests.support.security.secured_node import secure

ADMINISTRATOR = rights_of(ALICE, acl(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME))


def creation(
    name: str, operation: AclOperation, pattern: PatternType = PatternType.LITERAL
) -> AclCreation:
    return AclCreation(
        resource_type=ResourceType.TOPIC,
        resource_name=name,
        resource_pattern_type=pattern,
        principal="User:bob",
        host="*",
        operation=operation,
        permission_type=Permission.ALLOW,
    )


def create(node: OneNode, *creations: AclCreation) -> list[int]:
    request = CreateAclsRequest(creations=list(creations))
    response = node.send_request(request, 3, rights=ADMINISTRATOR)
    return [each.error_code for each in response.results]


def describe(
    node: OneNode, name: str | None = None, *, rights: Rights = ADMINISTRATOR, version: int = 3
) -> DescribeAclsResponse:
    request = DescribeAclsRequest(
        resource_type_filter=ResourceType.ANY,
        resource_name_filter=name,
        pattern_type_filter=PatternType.ANY if name is None else PatternType.MATCH,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=Permission.ANY,
    )
    response: DescribeAclsResponse = node.send_request(request, version, rights=rights)
    return response


def described(node: OneNode, name: str | None = None) -> dict[tuple[str, int], list[int]]:
    """The operations of the entries, by pattern."""
    response = describe(node, name)
    assert (response.error_code, response.error_message) == (ErrorCode.NONE, None)
    return {
        (each.resource_name, each.pattern_type): [entry.operation for entry in each.acls]
        for each in response.resources
    }


@pytest.fixture
def secured_node(node: OneNode) -> OneNode:
    secure(node)
    return node


def test_entries_are_described_by_pattern(secured_node: OneNode) -> None:
    assert create(
        secured_node,
        creation("orders", AclOperation.READ),
        creation("pay", AclOperation.READ, PatternType.PREFIXED),
        creation("orders", AclOperation.WRITE),
    ) == [0, 0, 0]
    every = {("orders", 3): [3, 4], ("pay", 4): [3]}
    assert described(secured_node) == every
    assert described(secured_node, "payments") == {("pay", 4): [3]}
    assert described(secured_node, "refunds") == {}
    (entry,) = describe(secured_node, "payments").resources[0].acls
    assert (entry.principal, entry.host, entry.permission_type) == ("User:bob", "*", 3)


def test_deleted_entries_are_gone(secured_node: OneNode) -> None:
    create(secured_node, creation("orders", AclOperation.READ))
    wanted = DeleteAclsFilter(
        resource_type_filter=ResourceType.TOPIC,
        resource_name_filter="orders",
        pattern_type_filter=PatternType.LITERAL,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=Permission.ANY,
    )
    request = DeleteAclsRequest(filters=[wanted])
    refused = secured_node.send_request(request, 3, rights=rights_of(ALICE))
    (result,) = refused.filter_results
    assert result.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert described(secured_node)

    (result,) = secured_node.send_request(request, 3, rights=ADMINISTRATOR).filter_results
    assert [each.resource_name for each in result.matching_acls] == ["orders"]
    assert described(secured_node) == {}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_entries_are_described_to_those_that_may_see_them(
    secured_node: OneNode, version: int
) -> None:
    create(secured_node, creation("orders", AclOperation.READ))
    refused = describe(secured_node, rights=rights_of(ALICE), version=version)
    assert refused.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert refused.resources == []
    right = acl(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
    assert describe(secured_node, rights=rights_of(ALICE, right), version=version).resources


def test_an_unknown_filter_is_refused(secured_node: OneNode) -> None:
    request = DescribeAclsRequest(resource_type_filter=99, operation=1, permission_type=1)
    response = secured_node.send_request(request, 3, rights=ADMINISTRATOR)
    assert response.error_code == ErrorCode.INVALID_REQUEST


def test_without_an_authorizer_there_are_no_entries(node: OneNode) -> None:
    assert describe(node).error_code == ErrorCode.SECURITY_DISABLED
    assert create(node, creation("a", AclOperation.READ)) == [ErrorCode.SECURITY_DISABLED]


def test_a_node_whose_metadata_has_failed_refuses_each_change(secured_node: OneNode) -> None:
    async def fail() -> None:
        secured_node.controller.quorum.fail(OSError("the disk is gone"))

    secured_node.run(fail())
    wanted = creation("orders", AclOperation.READ)
    assert create(secured_node, wanted, wanted) == [ErrorCode.KAFKA_STORAGE_ERROR] * 2
    request = DeleteAclsRequest(filters=[DeleteAclsFilter()])
    (result,) = secured_node.send_request(request, 3, rights=ADMINISTRATOR).filter_results
    assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
