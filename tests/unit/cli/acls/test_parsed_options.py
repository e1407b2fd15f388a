"""Options of `ottla acls` as ACLs and filters."""

from __future__ import annotations

import pytest

from ottla.cli.acls.parsed_options import (
    EntryOptions,
    ResourceOptions,
    bindings_to_add,
    filters_to_list,
    filters_to_remove,
)
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.security.acls.acl import AclBinding, AclOperation, PatternType, Permission, ResourceType
from ottla.security.acls.acl_filter import AclFilter

BOB = ("User:bob",)


def texts(bindings: list[AclBinding]) -> list[str]:
    return [
        f"{entry.permission.name} {entry.principal} from {entry.host} {entry.operation.name} on "
        f"{pattern.pattern_type.name} {pattern.resource_type.name} {pattern.name}"
        for pattern, entry in bindings
    ]


def test_there_is_an_acl_for_each_resource_principal_host_and_operation() -> None:
    resources = ResourceOptions(topics=("a", "b"), cluster=True, pattern_type="prefixed")
    entries = EntryOptions(
        allow_principals=("User:bob", "User:eve"),
        deny_principals=("User:mal",),
        allow_hosts=("10.0.0.1",),
        operations=("Describe", "describe-configs", "ALTER_CONFIGS"),
    )
    found = bindings_to_add(resources, entries)
    assert len(found) == 3 * 3 * 3
    written = texts(found)
    assert "ALLOW User:bob from 10.0.0.1 DESCRIBE on PREFIXED TOPIC a" in written
    assert "DENY User:mal from * ALTER_CONFIGS on LITERAL CLUSTER kafka-cluster" in written


def test_a_producer_may_write_and_create() -> None:
    resources = ResourceOptions(topics=("orders",), transactional_ids=("t",))
    entries = EntryOptions(BOB, is_producer=True, is_idempotent=True)
    assert texts(bindings_to_add(resources, entries)) == [
        "ALLOW User:bob from * WRITE on LITERAL TOPIC orders",
        "ALLOW User:bob from * DESCRIBE on LITERAL TOPIC orders",
        "ALLOW User:bob from * CREATE on LITERAL TOPIC orders",
        "ALLOW User:bob from * WRITE on LITERAL TRANSACTIONAL_ID t",
        "ALLOW User:bob from * DESCRIBE on LITERAL TRANSACTIONAL_ID t",
        "ALLOW User:bob from * IDEMPOTENT_WRITE on LITERAL CLUSTER kafka-cluster",
    ]


def test_a_consumer_may_read_topics_and_groups() -> None:
    resources = ResourceOptions(topics=("orders",), groups=("g",))
    entries = EntryOptions(BOB, is_consumer=True)
    assert texts(bindings_to_add(resources, entries)) == [
        "ALLOW User:bob from * READ on LITERAL TOPIC orders",
        "ALLOW User:bob from * DESCRIBE on LITERAL TOPIC orders",
        "ALLOW User:bob from * READ on LITERAL GROUP g",
    ]


TOPIC = ResourceOptions(topics=("orders",))
READ = ("read",)


@pytest.mark.parametrize(
    ("resources", "entries", "complaint"),
    [
        (TOPIC, EntryOptions(operations=READ), "No principal is given"),
        (TOPIC, EntryOptions(BOB), "No operation is given"),
        (ResourceOptions(), EntryOptions(BOB, operations=READ), "No resource is given"),
        (TOPIC, EntryOptions(("bob",), operations=READ), "--allow-principal: 'bob'"),
        (TOPIC, EntryOptions(("User:",), operations=READ), "lacks a type or a name"),
        (TOPIC, EntryOptions(BOB, operations=("reed",)), "--operation 'reed' is unknown"),
        (TOPIC, EntryOptions(BOB, operations=("any",)), "--operation 'any' is unknown"),
        (TOPIC, EntryOptions(BOB, operations=("cluster-action",)), "has no operation"),
        (
            TOPIC,
            EntryOptions(BOB, deny_hosts=("1.1.1.1",), operations=READ),
            "--deny-host needs --deny-principal",
        ),
        (
            ResourceOptions(topics=("orders",), pattern_type="match"),
            EntryOptions(BOB, operations=READ),
            "can only find ACLs",
        ),
        (ResourceOptions(topics=("",)), EntryOptions(BOB, operations=READ), "empty name"),
        (ResourceOptions(user_principals=("bob",)), EntryOptions(BOB, operations=READ), "bob"),
        (TOPIC, EntryOptions(BOB, operations=READ, is_producer=True), "leave out --operation"),
        (TOPIC, EntryOptions(BOB, is_consumer=True), "needs --topic and --group"),
        (TOPIC, EntryOptions(BOB, is_idempotent=True), "--idempotent works only with --producer"),
        (TOPIC, EntryOptions((), BOB, is_producer=True), "only with --allow-principal"),
        (
            ResourceOptions(topics=("orders",), groups=("g",)),
            EntryOptions(BOB, is_producer=True),
            "does not apply to --group",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    resources: ResourceOptions, entries: EntryOptions, complaint: str
) -> None:
    with pytest.raises(CommandError) as raised:
        bindings_to_add(resources, entries)
    assert complaint in raised.value.message
    assert raised.value.exit_code == ExitCode.USAGE


def test_removal_matches_everything_that_is_not_given() -> None:
    assert filters_to_remove(TOPIC, EntryOptions()) == [
        AclFilter(ResourceType.TOPIC, "orders", PatternType.LITERAL)
    ]
    assert filters_to_remove(TOPIC, EntryOptions(BOB, operations=READ)) == [
        AclFilter(
            ResourceType.TOPIC,
            "orders",
            PatternType.LITERAL,
            "User:bob",
            None,
            AclOperation.READ,
            Permission.ALLOW,
        )
    ]
    with pytest.raises(CommandError, match="No resource"):
        filters_to_remove(ResourceOptions(), EntryOptions(BOB))


def test_removal_knows_the_conveniences() -> None:
    entries = EntryOptions(BOB, is_producer=True, is_idempotent=True)
    found = filters_to_remove(TOPIC, entries)
    assert [(each.resource_type.name, each.operation.name) for each in found] == [
        ("TOPIC", "WRITE"),
        ("TOPIC", "DESCRIBE"),
        ("TOPIC", "CREATE"),
        ("CLUSTER", "IDEMPOTENT_WRITE"),
    ]


def test_lists_are_of_all_unless_something_is_named() -> None:
    assert filters_to_list(ResourceOptions(), ()) == [AclFilter()]
    named = ResourceOptions(topics=("orders",), pattern_type="match")
    assert filters_to_list(named, BOB) == [
        AclFilter(ResourceType.TOPIC, "orders", PatternType.MATCH, "User:bob")
    ]
