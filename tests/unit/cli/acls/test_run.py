"""`ottla acls` against a node that has ACLs."""

from __future__ import annotations

import json

import pytest

from ottla.cli.acls.parsed_options import EntryOptions, ResourceOptions
from ottla.cli.acls.run import add, list_, remove
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.model import ErrorCode
from ottla.security.acls.acl import AclBinding
from ottla.security.acls.acl_filter import AclFilter
from ottla.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from ottla.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from ottla.wire.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.security import AccessControlEntryRecord
from tests.support.captured_terminal import captured_terminal, complained, said
from tests.support.nodes.scripted_cluster import ScriptedCluster

TOPIC = ResourceOptions(topics=("orders",))
BOB_READS = EntryOptions(("User:bob",), operations=("read",))
EVE_WRITES = EntryOptions((), ("User:eve",), operations=("write",))


class Acls:
    """The ACLs of a cluster, by requests. `error` is the answer to everything."""

    def __init__(self) -> None:
        self.error = ErrorCode.NONE
        self.stored: list[AclBinding] = []

    def answer(self, request: Message) -> Message:
        if isinstance(request, DescribeAclsRequest):
            return self._described(request)
        if isinstance(request, CreateAclsRequest):
            for each in request.creations:
                self.stored.append(
                    AclBinding.of_record(
                        AccessControlEntryRecord(
                            resource_type=each.resource_type,
                            resource_name=each.resource_name,
                            pattern_type=each.resource_pattern_type,
                            principal=each.principal,
                            host=each.host,
                            operation=each.operation,
                            permission_type=each.permission_type,
                        )
                    )
                )
            results = [AclCreationResult(error_code=self.error) for _ in request.creations]
            return CreateAclsResponse(results=results)
        assert isinstance(request, DeleteAclsRequest)
        for requested in request.filters:
            acl_filter = AclFilter.of_request(requested)
            (found,) = (binding for binding in self.stored if acl_filter.matches(binding))
            self.stored.remove(found)
        return DeleteAclsResponse(filter_results=[DeleteAclsFilterResult()] * len(request.filters))

    def _described(self, request: DescribeAclsRequest) -> DescribeAclsResponse:
        acl_filter = AclFilter.of_request(request)
        resources = [
            DescribeAclsResource(
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                pattern_type=pattern.pattern_type,
                acls=[
                    AclDescription(
                        principal=entry.principal,
                        host=entry.host,
                        operation=entry.operation,
                        permission_type=entry.permission,
                    )
                ],
            )
            for pattern, entry in filter(acl_filter.matches, self.stored)
        ]
        return DescribeAclsResponse(error_code=self.error, resources=resources)


def test_acls_live_from_add_to_remove() -> None:
    acls, terminal = Acls(), captured_terminal()
    cluster = ScriptedCluster(acls.answer)
    for entries in (BOB_READS, EVE_WRITES):
        code = cluster.run(lambda admin: add(admin, terminal, TOPIC, entries, as_json=False))  # noqa: B023
        assert code is ExitCode.OK
    assert "added 1 ACL" in said(terminal)
    terminal = captured_terminal()
    cluster.run(lambda admin: list_(admin, terminal, ResourceOptions(), (), as_json=True))
    assert [json.loads(line) for line in said(terminal).splitlines()] == [
        {
            "resource_type": "topic",
            "name": "orders",
            "pattern_type": "literal",
            "principal": "User:bob",
            "host": "*",
            "operation": "read",
            "permission": "allow",
        },
        {
            "resource_type": "topic",
            "name": "orders",
            "pattern_type": "literal",
            "principal": "User:eve",
            "host": "*",
            "operation": "write",
            "permission": "deny",
        },
    ]
    everyone = EntryOptions(("User:bob",))
    cluster.run(
        lambda admin: remove(admin, terminal, TOPIC, everyone, is_confirmed=True, as_json=False)
    )
    assert "removed 1 ACL" in said(terminal)
    assert [binding.entry.principal for binding in acls.stored] == ["User:eve"]


def test_nothing_is_removed_without_a_confirmation() -> None:
    acls, terminal = Acls(), captured_terminal()
    cluster = ScriptedCluster(acls.answer)
    cluster.run(lambda admin: add(admin, terminal, TOPIC, BOB_READS, as_json=False))
    with pytest.raises(CommandError, match="confirmation"):
        cluster.run(
            lambda admin: remove(
                admin, terminal, TOPIC, BOB_READS, is_confirmed=False, as_json=False
            )
        )
    assert len(acls.stored) == 1


def test_a_cluster_without_an_authorizer_says_how_to_get_one() -> None:
    acls, terminal = Acls(), captured_terminal()
    acls.error = ErrorCode.SECURITY_DISABLED
    cluster = ScriptedCluster(acls.answer)
    with pytest.raises(CommandError, match="SECURITY_DISABLED") as raised:
        cluster.run(lambda admin: list_(admin, terminal, TOPIC, (), as_json=False))
    assert "authorizer.class.name" in raised.value.hints[0]
    code = cluster.run(lambda admin: add(admin, terminal, TOPIC, BOB_READS, as_json=False))
    assert code is ExitCode.REFUSED
    assert "SECURITY_DISABLED" in complained(terminal)
