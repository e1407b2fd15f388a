"""Names go in with the prefix and come out without it; what belongs to others stays hidden."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.coordinator.groups.consumer.pattern import Pattern, PatternError
from ottla.model import Uuid
from ottla.tenancy.group_protocol import rewritten_assignment, rewritten_subscription
from ottla.tenancy.member_bytes import MemberBytes
from ottla.tenancy.tenant import Tenant, TenantLimits, check_tenant_name, tenants_of
from ottla.tenancy.translation import InwardNames, OutwardNames, TopicIds
from ottla.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ottla.wire.schema.renaming import NotVisibleError
from ottla.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)

OWN, FOREIGN, UNKNOWN = (Uuid(bytes([each] * 16)) for each in (1, 2, 3))
TOPICS = {OWN: "acme.orders", FOREIGN: "beta.orders"}
IDS = TopicIds(TOPICS.get, "acme.", bytes(range(16)))
INWARD, OUTWARD = InwardNames("acme.", IDS), OutwardNames("acme.", IDS)
NAMES = st.text(st.characters(categories=("Lu", "Ll", "Nd"), include_characters="._-"))


@given(NAMES)
def test_names_come_back(name: str) -> None:
    assert OUTWARD.topic(INWARD.topic(name)) == name
    assert OUTWARD.principal(INWARD.principal(f"User:{name}")) == f"User:{name}"
    assert OUTWARD.topic_pattern(INWARD.topic_pattern(name)) == name


@given(NAMES)
def test_every_name_that_a_client_can_say_is_its_own(name: str) -> None:
    assert INWARD.topic(name).startswith("acme.") or not name
    assert INWARD.config_resource(name, 2).startswith("acme.") or not name


def test_names_of_others_are_not_visible() -> None:
    for translate in (OUTWARD.topic, OUTWARD.group, OUTWARD.user, OUTWARD.topic_pattern):
        with pytest.raises(NotVisibleError):
            translate("beta.orders")
    with pytest.raises(NotVisibleError):
        OUTWARD.principal("User:beta.app")


def test_a_pattern_matches_names_with_the_prefix_only() -> None:
    for pattern in ("orders|.*", "^orders", ".*", "(a|b)?orders", "(^orders)|^b", "[^x]rders"):
        compiled = re.compile(INWARD.topic_pattern(pattern))
        assert compiled.fullmatch("acme.orders")
        assert not compiled.fullmatch("beta.orders")
        assert not compiled.fullmatch("acmeXorders")


@pytest.mark.parametrize("pattern", ["a)|(?:.*", ")|.*|(?:", r"\Q[\E)|(?:.*\Q]\E", r"[(])|(.*"])
def test_a_pattern_that_ends_its_group_stays_invalid(pattern: str) -> None:
    with pytest.raises(PatternError):
        Pattern(INWARD.topic_pattern(pattern))


def test_parentheses_that_are_characters_stay() -> None:
    compiled = Pattern(INWARD.topic_pattern(r"[)]|\)|\Q)\E|(a)"))
    assert [compiled.matches(f"acme.{each}") for each in (")", "a", "b")] == [True, True, False]


def test_ids_of_others_are_unknown_ids_and_come_back() -> None:
    assert INWARD.topic_id(OWN) == OWN == OUTWARD.topic_id(OWN)
    assert INWARD.topic_id(UNKNOWN) == UNKNOWN == OUTWARD.topic_id(UNKNOWN)
    hidden = INWARD.topic_id(FOREIGN)
    assert hidden not in TOPICS
    assert OUTWARD.topic_id(hidden) == FOREIGN
    assert OUTWARD.topic_id(FOREIGN) not in TOPICS
    assert OUTWARD.topic_id(Uuid(bytes(16))) == Uuid(bytes(16))


def shown(name: str) -> str:
    return name.removeprefix("acme.")


@given(st.binary(max_size=60))
def test_bytes_of_other_protocols_are_left_alone_or_come_back(data: bytes) -> None:
    for rewritten in (rewritten_subscription, rewritten_assignment):
        assert bytes(rewritten(rewritten(data, INWARD.topic), shown)) == data or not data


def test_bytes_of_all_members_are_translated_and_equal_ones_once() -> None:
    metadata = [
        b"\0\0" + ConsumerProtocolSubscription(topics=topics).encode(0)
        for topics in (["a"], ["b"], ["a"])
    ]
    members = [
        JoinGroupResponseMember(member_id=str(index), metadata=each)
        for index, each in enumerate(metadata)
    ]
    response = JoinGroupResponse(members=members, leader="0")
    found = MemberBytes(response, 5, INWARD.topic)
    assert len(found) == len(list(found.steps())) == 2
    assert [member.metadata for member in members] == metadata
    found.apply()
    assert [b"acme." in bytes(member.metadata) for member in members] == [True] * 3
    back = MemberBytes(response, 5, shown)
    assert list(back.steps())
    back.apply()
    assert [bytes(member.metadata) for member in members] == metadata


@pytest.mark.parametrize("declared", [0, 1, 2, 3, 9])
def test_topics_of_subscriptions_and_assignments_are_translated(declared: int) -> None:
    version = min(declared, 3)
    owned = [TopicPartition(topic="orders", partitions=[1])]
    subscription = ConsumerProtocolSubscription(topics=["orders"], owned_partitions=owned)
    # A later version has more fields.
    later = b"later" if declared > version else b""
    head = declared.to_bytes(2)
    sent = head + subscription.encode(version) + later
    inside = bytes(rewritten_subscription(sent, INWARD.topic))
    assert inside.count(b"acme.orders") == (2 if version >= 1 else 1)
    assert inside.endswith(later)
    assert bytes(rewritten_subscription(inside, OUTWARD.topic)) == sent
    assignment = ConsumerProtocolAssignment(assigned_partitions=owned)
    sent = head + assignment.encode(version) + later
    inside = bytes(rewritten_assignment(sent, INWARD.topic))
    assert b"acme.orders" in inside
    assert bytes(rewritten_assignment(inside, OUTWARD.topic)) == sent


def test_limits_are_text_and_back() -> None:
    limits = TenantLimits(topics=3, retained_bytes=1_000)
    assert str(limits) == "topics=3,retained_bytes=1000"
    assert TenantLimits.parse(str(limits)) == limits
    assert TenantLimits.parse("") == TenantLimits()


def test_tenants_are_configs() -> None:
    configs = {"ottla.tenant.acme": "topics=1", "ottla.tenant.beta": "?", "num.partitions": "1"}
    assert tenants_of(configs) == {
        "acme": Tenant("acme", TenantLimits(topics=1)),
        "beta": Tenant("beta"),
    }


@pytest.mark.parametrize("name", ["", "a.b", "a_b", "a b", "x" * 65, "ä"])
def test_a_tenants_name_keeps_prefixes_apart(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a tenant"):
        check_tenant_name(name)
