"""Subscriptions and assignments between members, also those of other clients."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from ottla.client.groups.assignors import MemberSubscription
from ottla.client.groups.classic.protocol_bytes import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from ottla.model import TopicPartition
from ottla.wire.errors import ProtocolError

with warnings.catch_warnings():
    # Its reading of its own schemas is deprecated.
    warnings.simplefilter("ignore")
    from kafka.coordinator.assignors.abstract import (  # type: ignore[import-untyped]
        ConsumerProtocolAssignment,
        ConsumerProtocolSubscription,
    )

PARTITIONS = frozenset({TopicPartition("t", 0), TopicPartition("t", 2), TopicPartition("u", 1)})


def test_a_subscription_is_read_as_it_was_written() -> None:
    member = MemberSubscription(frozenset({"t", "u"}), PARTITIONS, 7, rack_id="r")
    assert decode_subscription(encode_subscription(member), None) == member
    assert decode_subscription(encode_subscription(member), "i").instance_id == "i"


def test_an_assignment_is_read_as_it_was_written() -> None:
    assert decode_assignment(encode_assignment(PARTITIONS)) == PARTITIONS


def test_a_leader_may_assign_nothing() -> None:
    assert decode_assignment(b"") == frozenset()


def test_other_clients_read_what_this_one_writes() -> None:
    member: Any = ConsumerProtocolSubscription.decode(
        encode_subscription(MemberSubscription(frozenset({"t"}), PARTITIONS, 7))
    )
    assert list(member.topics) == ["t"]
    assigned: Any = ConsumerProtocolAssignment.decode(encode_assignment(PARTITIONS))
    assert {
        TopicPartition(topic.topic, index)
        for topic in assigned.assigned_partitions
        for index in topic.partitions
    } == PARTITIONS


def test_a_later_version_is_read_as_the_last_known_one() -> None:
    data = bytearray(encode_assignment(PARTITIONS))
    data[1] = 9
    assert decode_assignment(bytes(data) + b"more") == PARTITIONS


@pytest.mark.parametrize("data", [b"\x00", b"\xff\xff", b"\x00\x01\x00\x00\x00\x09"])
def test_nonsense_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_assignment(data)
