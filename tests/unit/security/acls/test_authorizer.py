"""The rules of Kafka's StandardAuthorizer."""

from __future__ import annotations

import pytest

from ottla.security.acls.acl import AclBinding, AclOperation, PatternType, Permission, ResourceType
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.principal import Principal
from tests.support.controller.cluster_images import uuid
from tests.support.security.acls import ALICE, BOB, HOST, acl, acl_records, authorizer_of

READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
ALL, CREATE = AclOperation.ALL, AclOperation.CREATE
TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
DENY, PREFIXED = Permission.DENY, PatternType.PREFIXED


def allows(
    authorizer: StandardAuthorizer,
    operation: AclOperation = READ,
    name: str = "orders",
    *,
    principal: Principal = ALICE,
    host: str = HOST,
    resource_type: ResourceType = TOPIC,
) -> bool:
    return authorizer.allows(principal, host, operation, resource_type, name)


def test_nothing_is_allowed_without_an_entry() -> None:
    assert not allows(authorizer_of())


def test_an_entry_allows_its_principal_its_operation_on_its_resource() -> None:
    authorizer = authorizer_of(acl(READ, TOPIC, "orders"))
    assert allows(authorizer)
    assert not allows(authorizer, principal=BOB)
    assert not allows(authorizer, principal=Principal("Group", "alice"))
    assert not allows(authorizer, WRITE)
    assert not allows(authorizer, name="orders2")
    assert not allows(authorizer, resource_type=GROUP)


def test_a_principal_from_a_token_has_the_rights_of_its_owner() -> None:
    owner = Principal("User", "alice", is_from_token=True)
    assert allows(authorizer_of(acl(READ, TOPIC, "orders")), principal=owner)


def test_entries_for_all_principals_apply_to_those_of_other_types() -> None:
    authorizer = authorizer_of(acl(READ, TOPIC, "orders", principal="User:*"))
    assert allows(authorizer, principal=BOB)
    assert allows(authorizer, principal=Principal("Group", "staff"))


def test_a_star_within_a_principal_is_an_ordinary_character() -> None:
    assert not allows(authorizer_of(acl(READ, TOPIC, "orders", principal="User:al*")))


def test_hosts_are_compared_as_texts() -> None:
    authorizer = authorizer_of(acl(READ, TOPIC, "orders", host=HOST))
    assert allows(authorizer)
    assert not allows(authorizer, host="10.0.0.10")


def test_prefixes_and_the_wildcard_match_names() -> None:
    prefixed = authorizer_of(acl(READ, TOPIC, "ord", pattern=PREFIXED))
    assert allows(prefixed)
    assert allows(prefixed, name="ord")
    assert not allows(prefixed, name="or")
    assert allows(authorizer_of(acl(READ, TOPIC, "*")))
    assert not allows(authorizer_of(acl(READ, TOPIC, "*", pattern=PREFIXED)))


@pytest.mark.parametrize(
    ("held", "implied"),
    [
        (READ, DESCRIBE),
        (WRITE, DESCRIBE),
        (AclOperation.DELETE, DESCRIBE),
        (AclOperation.ALTER, DESCRIBE),
        (AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE_CONFIGS),
        (ALL, CREATE),
    ],
)
def test_operations_that_imply_others_do_so_only_when_allowed(
    held: AclOperation, implied: AclOperation
) -> None:
    assert allows(authorizer_of(acl(held, TOPIC, "orders")), implied)
    both = authorizer_of(acl(implied, TOPIC, "orders"), acl(held, TOPIC, "orders", permission=DENY))
    assert allows(both, implied) is (held is not ALL)


@pytest.mark.parametrize(
    "held", [CREATE, AclOperation.CLUSTER_ACTION, AclOperation.DESCRIBE_CONFIGS]
)
def test_other_operations_imply_nothing(held: AclOperation) -> None:
    assert not allows(authorizer_of(acl(held, TOPIC, "orders")), DESCRIBE)


@pytest.mark.parametrize(
    "denial",
    [
        acl(READ, TOPIC, "orders", permission=DENY),
        acl(ALL, TOPIC, "*", permission=DENY),
        acl(READ, TOPIC, "o", permission=DENY, pattern=PREFIXED, principal="User:*"),
    ],
)
def test_a_denial_wins_over_every_permission(denial: AclBinding) -> None:
    permissions = acl(ALL, TOPIC, "orders"), acl(ALL, TOPIC, "*")
    assert allows(authorizer_of(*permissions))
    assert not allows(authorizer_of(*permissions, denial))
    assert not allows(authorizer_of(denial, *permissions))


def test_denials_for_others_do_not_apply() -> None:
    authorizer = authorizer_of(
        acl(READ, TOPIC, "orders"),
        acl(READ, TOPIC, "orders", principal=str(BOB), permission=DENY),
        acl(READ, TOPIC, "orders", host="10.0.0.9", permission=DENY),
        acl(WRITE, TOPIC, "orders", permission=DENY),
    )
    assert allows(authorizer)


def test_entries_of_later_versions_allow_nothing() -> None:
    (record,) = acl_records(acl(READ, TOPIC, "orders"))
    record.permission_type = 9
    authorizer = authorizer_of(acl(ALL, TOPIC, "*"))
    authorizer.add(record)
    assert not allows(authorizer)


def test_super_users_may_do_what_is_denied() -> None:
    authorizer = authorizer_of(acl(ALL, TOPIC, "*", permission=DENY), super_users=("User:alice",))
    assert allows(authorizer)
    assert authorizer.allows_any(ALICE, HOST, WRITE, TOPIC)
    assert not allows(authorizer, principal=BOB)
    assert not authorizer.is_super_user(Principal("Group", "alice"))


def test_everyone_is_allowed_only_where_no_entry_matches_the_resource() -> None:
    authorizer = authorizer_of(
        acl(WRITE, TOPIC, "orders", principal=str(BOB)), allows_everyone=True
    )
    assert allows(authorizer, name="payments")
    assert allows(authorizer, resource_type=GROUP)
    assert not allows(authorizer)


def test_entries_follow_an_image() -> None:
    one, two = acl_records(acl(READ, TOPIC, "orders"), acl(READ, TOPIC, "pay", pattern=PREFIXED))
    authorizer = StandardAuthorizer()
    authorizer.follow({one.id: one, two.id: two})
    assert len(authorizer) == 2
    assert allows(authorizer)
    assert allows(authorizer, name="payments")

    version = authorizer.version
    authorizer.follow({one.id: one, two.id: two})
    assert authorizer.version == version

    changed = acl(READ, TOPIC, "refunds").to_record(one.id)
    authorizer.follow({changed.id: changed})
    assert authorizer.version > version
    assert not allows(authorizer)
    assert not allows(authorizer, name="payments")
    assert allows(authorizer, name="refunds")


def test_one_of_two_equal_entries_stays_when_the_other_is_removed() -> None:
    binding = acl(READ, TOPIC, "ord", pattern=PREFIXED)
    authorizer = authorizer_of(binding, binding)
    authorizer.remove(uuid(0))
    assert allows(authorizer)
    authorizer.remove(uuid(1))
    assert not allows(authorizer)


@pytest.mark.parametrize(
    ("bindings", "expected"),
    [
        ([], False),
        ([acl(WRITE, TOPIC, "a")], True),
        ([acl(ALL, TOPIC, "a")], True),
        ([acl(WRITE, TOPIC, "a", principal="User:*")], True),
        ([acl(WRITE, TOPIC, "a", principal=str(BOB))], False),
        ([acl(WRITE, TOPIC, "a", host="10.0.0.9")], False),
        ([acl(READ, TOPIC, "a")], False),
        ([acl(WRITE, GROUP, "a")], False),
        ([acl(WRITE, TOPIC, "a"), acl(WRITE, TOPIC, "a", permission=DENY)], False),
        ([acl(WRITE, TOPIC, "a"), acl(WRITE, TOPIC, "*", permission=DENY)], False),
        ([acl(WRITE, TOPIC, "*"), acl(WRITE, TOPIC, "*", permission=DENY)], False),
        ([acl(WRITE, TOPIC, "*"), acl(WRITE, TOPIC, "hardcode", permission=DENY)], True),
        ([acl(WRITE, TOPIC, "ab"), acl(ALL, TOPIC, "a", permission=DENY, pattern=PREFIXED)], False),
        (
            [
                acl(WRITE, TOPIC, "a", pattern=PREFIXED),
                acl(WRITE, TOPIC, "a", permission=DENY),
            ],
            True,
        ),
        (
            [
                acl(WRITE, TOPIC, "a", pattern=PREFIXED),
                acl(WRITE, TOPIC, "a", permission=DENY, pattern=PREFIXED),
            ],
            False,
        ),
        (
            [
                acl(WRITE, TOPIC, "a", pattern=PREFIXED),
                acl(WRITE, TOPIC, "ab", permission=DENY, pattern=PREFIXED),
            ],
            True,
        ),
    ],
)
def test_some_resource_is_allowed(bindings: list[AclBinding], expected: bool) -> None:
    assert authorizer_of(*bindings).allows_any(ALICE, HOST, WRITE, TOPIC) is expected


def test_some_resource_is_allowed_to_everyone_without_entries() -> None:
    assert authorizer_of(allows_everyone=True).allows_any(ALICE, HOST, WRITE, TOPIC)


def test_before_the_entries_are_loaded_only_super_users_are_allowed_anything() -> None:
    authorizer = authorizer_of(super_users=("User:admin",), allows_everyone=True)
    admin = Principal("User", "admin")
    authorizer.unload()
    before = authorizer.version
    assert authorizer.allows(admin, HOST, AclOperation.READ, ResourceType.TOPIC, "orders")
    assert not authorizer.allows(ALICE, HOST, AclOperation.READ, ResourceType.TOPIC, "orders")
    assert not authorizer.allows_any(ALICE, HOST, AclOperation.WRITE, ResourceType.TOPIC)
    authorizer.follow({})
    assert authorizer.version > before
    assert authorizer.allows(ALICE, HOST, AclOperation.READ, ResourceType.TOPIC, "orders")
