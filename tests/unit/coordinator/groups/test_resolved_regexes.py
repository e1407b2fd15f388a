"""What is stored with the topics of a regular expression."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.coordinator.groups.consumer.group_records import regex_record
from ottla.coordinator.groups.consumer.resolved_regex import ResolvedRegex
from ottla.coordinator.runtime.outcome import Outcome
from ottla.metadata import MetadataImage
from tests.support.coordinator.consumer_members import Member, add_topic
from tests.support.coordinator.group_shard import GROUP, GroupShard

REGEX = "x-.*"


@pytest.fixture
def shard() -> GroupShard:
    image = MetadataImage()
    add_topic(image, "x-1", 1)
    shard = GroupShard(image=image)
    shard.clock.advance(1_000_000)
    shard.metadata_offset = 41
    return shard


def join(shard: GroupShard) -> Member:
    return Member(shard, "a", subscribed_topic_names=None, subscribed_topic_regex=REGEX).join()


def resolved(shard: GroupShard) -> ResolvedRegex:
    group: Any = shard.machine.groups.require(GROUP)
    found: ResolvedRegex = group.regexes[REGEX]
    return found


def test_version_is_the_offset_of_the_metadata_and_survives_a_failover(shard: GroupShard) -> None:
    join(shard)
    expected = ResolvedRegex(frozenset({"x-1"}), version=41, timestamp=shard.clock.now_ms())
    assert resolved(shard) == expected
    assert resolved(shard.failover()) == expected


def test_version_rises_only_when_the_topics_change(shard: GroupShard) -> None:
    member = join(shard)
    for offset, name, version in ((50, "y", 41), (60, "x-2", 60)):
        shard.metadata_offset = offset
        add_topic(shard.image, name, 1)
        shard.shard.perform(lambda groups: groups.topics_changed())
        member.beat()
        assert resolved(shard).version == version


def test_time_that_was_stored_as_the_version_is_replaced_by_the_offset(shard: GroupShard) -> None:
    member = join(shard)
    now_ms = shard.clock.now_ms()
    old = ResolvedRegex(frozenset({"x-1"}), version=now_ms, timestamp=now_ms)
    shard.shard.perform(lambda _groups: Outcome([regex_record(GROUP, REGEX, old)]))
    shard = shard.failover()
    assert not resolved(shard).has_version
    shard.metadata_offset = 70
    epoch = member.epoch
    member.shard = shard
    member.beat()
    assert resolved(shard).version == 70
    assert member.epoch == epoch
    assert resolved(shard.failover()).version == 70
