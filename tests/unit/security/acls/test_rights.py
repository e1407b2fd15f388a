"""The rights of one session: cached, audited and bounded."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.security.acls import rights as rights_module
from ottla.security.acls.acl import (
    AUTHORIZATION_ERRORS,
    SUPPORTED_OPERATIONS,
    AclOperation,
    Permission,
    ResourceType,
)
from ottla.security.acls.rights import UNRESTRICTED, AclResource, Right, Rights
from ottla.security.principal import Principal
from tests.support.controller.cluster_images import uuid
from tests.support.security.acls import ALICE, HOST, acl, authorizer_of, rights_of

READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
TOPIC = ResourceType.TOPIC


class Audit:
    """The decisions that were audited."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, AclOperation, AclResource, bool]] = []

    def note(
        self,
        principal: Principal,
        host: str,
        operation: AclOperation,
        resource: AclResource,
        is_allowed: bool,
    ) -> None:
        self.lines.append((str(principal), host, operation, resource, is_allowed))


def test_without_an_authorizer_everything_is_allowed() -> None:
    assert UNRESTRICTED.is_unrestricted
    assert UNRESTRICTED.allows(READ, TOPIC, "orders")
    assert UNRESTRICTED.allows_any(WRITE, TOPIC)
    assert UNRESTRICTED.allowed(READ, TOPIC, ["a", "b"]) == {"a", "b"}
    UNRESTRICTED.require(READ, TOPIC, "orders")
    assert UNRESTRICTED.operations(ResourceType.GROUP, "g") == sum(
        1 << each for each in SUPPORTED_OPERATIONS[ResourceType.GROUP]
    )


def test_super_users_are_unrestricted() -> None:
    authorizer = authorizer_of(super_users=("User:alice",))
    assert Rights(authorizer, ALICE, HOST).is_unrestricted


def test_rights_are_those_that_entries_give() -> None:
    rights = rights_of(ALICE, acl(READ, TOPIC, "orders"))
    assert not rights.is_unrestricted
    assert rights.allows(READ, TOPIC, "orders")
    assert not rights.allows(WRITE, TOPIC, "orders")
    assert rights.allows_any(READ, TOPIC)
    assert not rights.allows_any(WRITE, TOPIC)
    assert rights.allowed(READ, TOPIC, ["orders", "payments"]) == {"orders"}
    assert rights.operations(TOPIC, "orders") == 1 << READ | 1 << DESCRIBE


@pytest.mark.parametrize("resource_type", SUPPORTED_OPERATIONS)
def test_what_is_required_and_not_allowed_is_kafkas_error(resource_type: ResourceType) -> None:
    with pytest.raises(KafkaError) as caught:
        rights_of(ALICE).require(DESCRIBE, resource_type, "it")
    assert caught.value.code == AUTHORIZATION_ERRORS[resource_type]
    assert caught.value.code is not ErrorCode.NONE


def test_decisions_follow_the_entries() -> None:
    authorizer = authorizer_of()
    rights = Rights(authorizer, ALICE, HOST)
    assert not rights.allows(READ, TOPIC, "orders")
    authorizer.add(acl(READ, TOPIC, "orders").to_record(uuid(1)))
    assert rights.allows(READ, TOPIC, "orders")
    denial = acl(READ, TOPIC, "*", permission=Permission.DENY)
    authorizer.add(denial.to_record(uuid(2)))
    assert not rights.allows(READ, TOPIC, "orders")
    authorizer.remove(uuid(2))
    assert rights.allows(READ, TOPIC, "orders")


def test_each_decision_is_audited_once_until_the_entries_change() -> None:
    audit, authorizer = Audit(), authorizer_of(acl(READ, TOPIC, "orders"))
    rights = Rights(authorizer, ALICE, HOST, on_decision=audit.note)
    for _ in range(3):
        rights.allows(READ, TOPIC, "orders")
        rights.allows_any(WRITE, TOPIC)
    expected = [
        ("User:alice", HOST, READ, AclResource(TOPIC, "orders"), True),
        ("User:alice", HOST, WRITE, AclResource(TOPIC, None), False),
    ]
    assert audit.lines == expected
    authorizer.add(acl(READ, TOPIC, "payments").to_record(uuid(7)))
    rights.allows(READ, TOPIC, "orders")
    assert audit.lines == [*expected, expected[0]]


def test_filters_and_authorized_operations_are_not_audited() -> None:
    audit, authorizer = Audit(), authorizer_of(acl(READ, TOPIC, "orders"))
    rights = Rights(authorizer, ALICE, HOST, on_decision=audit.note)
    rights.allowed(DESCRIBE, TOPIC, ["orders", "payments"], is_audited=False)
    rights.operations(TOPIC, "orders")
    assert audit.lines == []
    # What was decided without an audit is audited when a client asks for it.
    assert not rights.allows(DESCRIBE, TOPIC, "payments")
    assert len(audit.lines) == 1


def test_the_number_of_decisions_that_are_kept_is_bounded() -> None:
    audit = Audit()
    rights = Rights(authorizer_of(), ALICE, HOST, on_decision=audit.note)
    with patch.object(rights_module, "_DECISIONS_MAX", 3):
        for name in ("a", "b", "c", "d"):
            rights.allows(READ, TOPIC, name)
            assert len(rights._decisions.known) <= 3
        rights.allows(READ, TOPIC, "a")
    assert [resource.name for _, _, _, resource, _ in audit.lines] == ["a", "b", "c", "d", "a"]


def test_checks_that_an_api_does_not_declare_fail() -> None:
    describes = Right(AclOperation.DESCRIBE, ResourceType.TOPIC)
    rights = rights_of(ALICE, acl(AclOperation.READ, ResourceType.TOPIC, "orders"))
    declared = rights.declaring((describes,))
    assert rights.allows(AclOperation.READ, ResourceType.TOPIC, "orders")
    assert declared.allows(*describes, "orders")
    for check in (
        lambda: declared.allows(AclOperation.READ, ResourceType.TOPIC, "orders"),
        lambda: declared.require(AclOperation.DESCRIBE, ResourceType.GROUP, "orders"),
        lambda: declared.allows_any(AclOperation.WRITE, ResourceType.TOPIC),
        lambda: declared.allowed(AclOperation.READ, ResourceType.TOPIC, ["orders"]),
    ):
        with pytest.raises(AssertionError, match="declare it"):
            check()
    assert declared.operations(ResourceType.TOPIC, "orders")
    assert UNRESTRICTED.declaring((describes,)) is UNRESTRICTED
