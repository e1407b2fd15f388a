"""Patterns, entries and the filters of requests."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import (
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.acls.acl_filter import AclFilter
from ottla.wire.messages.describe_acls import DescribeAclsRequest
from tests.support.controller.cluster_images import uuid
from tests.support.security.acls import acl

READ, TOPIC = AclOperation.READ, ResourceType.TOPIC


def test_an_entry_is_the_same_after_its_record() -> None:
    binding = acl(READ, TOPIC, "orders", host="10.0.0.7", pattern=PatternType.PREFIXED)
    record = binding.to_record(uuid(1))
    assert record.id == uuid(1)
    assert AclBinding.of_record(record) == binding


def test_codes_of_later_versions_are_unknown() -> None:
    record = acl(READ, TOPIC, "orders").to_record(uuid(1))
    record.operation, record.resource_type, record.pattern_type = 99, 98, 97
    record.permission_type = 96
    pattern, entry = AclBinding.of_record(record)
    assert pattern == ResourcePattern(ResourceType.UNKNOWN, "orders", PatternType.UNKNOWN)
    assert (entry.operation, entry.permission) == (AclOperation.UNKNOWN, Permission.UNKNOWN)


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        (ResourcePattern(TOPIC, "orders"), "orders", True),
        (ResourcePattern(TOPIC, "orders"), "orders2", False),
        (ResourcePattern(TOPIC, "orders"), "Orders", False),
        (ResourcePattern(TOPIC, "*"), "orders", True),
        (ResourcePattern(TOPIC, "ord", PatternType.PREFIXED), "orders", True),
        (ResourcePattern(TOPIC, "orders", PatternType.PREFIXED), "orders", True),
        (ResourcePattern(TOPIC, "orders", PatternType.PREFIXED), "ord", False),
        (ResourcePattern(TOPIC, "*", PatternType.PREFIXED), "orders", False),
        (ResourcePattern(TOPIC, "*", PatternType.PREFIXED), "*s", True),
        (ResourcePattern(TOPIC, "orders", PatternType.UNKNOWN), "orders", False),
    ],
)
def test_patterns_match_names(pattern: ResourcePattern, name: str, matches: bool) -> None:
    assert pattern.matches(name) is matches


ORDERS = acl(READ, TOPIC, "orders")
PREFIX = acl(READ, TOPIC, "ord", pattern=PatternType.PREFIXED)
EVERY = acl(AclOperation.ALL, TOPIC, "*", principal="User:*", permission=Permission.DENY)
GROUP = acl(READ, ResourceType.GROUP, "orders", host="10.0.0.7")
STORED = {"orders": ORDERS, "prefix": PREFIX, "every": EVERY, "group": GROUP}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (AclFilter(), "orders prefix every group"),
        (AclFilter(resource_type=ResourceType.GROUP), "group"),
        (AclFilter(name="orders"), "orders group"),
        (AclFilter(name="orders", pattern_type=PatternType.LITERAL), "orders group"),
        (AclFilter(pattern_type=PatternType.PREFIXED), "prefix"),
        (AclFilter(TOPIC, "orders", PatternType.MATCH), "orders prefix every"),
        (AclFilter(TOPIC, "ordinary", PatternType.MATCH), "prefix every"),
        (AclFilter(pattern_type=PatternType.MATCH), "orders prefix every group"),
        (AclFilter(name=""), ""),
        (AclFilter(name="*"), "every"),
        (AclFilter(principal="User:*"), "every"),
        (AclFilter(principal="User:alice"), "orders prefix group"),
        (AclFilter(principal="alice"), ""),
        (AclFilter(host="*"), "orders prefix every"),
        (AclFilter(host="10.0.0.7"), "group"),
        (AclFilter(operation=AclOperation.ALL), "every"),
        (AclFilter(operation=READ), "orders prefix group"),
        (AclFilter(permission=Permission.DENY), "every"),
    ],
)
def test_filters_compare_what_is_stored(wanted: AclFilter, found: str) -> None:
    assert [name for name, each in STORED.items() if wanted.matches(each)] == found.split()


@pytest.mark.parametrize(
    "field", ["resource_type_filter", "pattern_type_filter", "operation", "permission_type"]
)
@pytest.mark.parametrize("code", [0, 99])
def test_filters_with_unknown_codes_are_refused(field: str, code: int) -> None:
    request = DescribeAclsRequest(resource_type_filter=1, operation=1, permission_type=1)
    assert AclFilter.of_request(request).resource_type is ResourceType.ANY
    setattr(request, field, code)
    with pytest.raises(KafkaError) as caught:
        AclFilter.of_request(request)
    assert caught.value.code == ErrorCode.INVALID_REQUEST
