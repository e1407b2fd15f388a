"""Committing, fetching, deleting and expiring offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ottla.model import ZERO_UUID, ErrorCode, Uuid
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from ottla.wire.stored.consumer_protocol import ConsumerProtocolSubscription
from ottla.wire.stored.offsets import OffsetCommitKey, OffsetCommitValue
from tests.support.coordinator.group_shard import GROUP, Answer, GroupShard

DAY_S = 86_400
RETENTION_S = 7 * DAY_S
SESSION_OF_DAYS_MS = 1_800_000


@pytest.fixture
def shard() -> GroupShard:
    return GroupShard()


def commit(
    shard: GroupShard,
    offsets: Mapping[int, int],
    *,
    version: int = 9,
    topic_id: Uuid = ZERO_UUID,
    metadata: str | None = "",
    **options: Any,
) -> Answer:
    request = OffsetCommitRequest(
        group_id=options.pop("group_id", GROUP),
        topics=[
            OffsetCommitRequestTopic(
                name="t",
                topic_id=topic_id,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=offset,
                        committed_metadata=metadata,
                    )
                    for index, offset in offsets.items()
                ],
            )
        ],
        **options,
    )
    return shard.submit(lambda groups: groups.commit(request, version=version))


def fetch(
    shard: GroupShard,
    *indexes: int,
    topic_id: Uuid = ZERO_UUID,
    require_stable: bool = False,
    group_id: str = GROUP,
) -> dict[int, int]:
    """Offsets, or errors below zero, by partition; of all partitions if none are named."""
    topics = None
    if indexes:
        topics = [
            OffsetFetchRequestTopics(name="t", topic_id=topic_id, partition_indexes=list(indexes))
        ]
    requested = OffsetFetchRequestGroup(group_id=group_id, topics=topics)
    answer = shard.submit(lambda groups: groups.fetch(requested, require_stable=require_stable))
    return {
        each.partition_index: -each.error_code or each.committed_offset
        for topic in answer.value.topics
        for each in topic.partitions
    }


def error(answer: Answer) -> ErrorCode:
    """Of the whole, or of the only partition."""
    if hasattr(answer.value, "topics"):
        return ErrorCode(answer.value.topics[0].partitions[0].error_code)
    return answer.error


def subscribed(*topics: str) -> dict[str, bytes]:
    subscription = ConsumerProtocolSubscription(topics=list(topics))
    return {"range": b"\x00\x00" + subscription.encode(0)}


def stable_consumer(shard: GroupShard, *topics: str) -> Any:
    member_id = shard.new_member_id()
    join = shard.join(
        member_id, protocols=subscribed(*topics), session_timeout_ms=SESSION_OF_DAYS_MS
    )
    shard.clock.advance(0)
    shard.sync(join.value, {})
    return join.value


# ---- committing and fetching


def test_what_was_committed_is_fetched(shard: GroupShard) -> None:
    assert error(commit(shard, {0: 5, 2: 7})) == ErrorCode.NONE
    assert fetch(shard, 0, 1, 2) == {0: 5, 1: -1, 2: 7}
    assert fetch(shard) == {0: 5, 2: 7}
    assert fetch(shard, 0, group_id="other") == {0: -1}
    assert fetch(shard, group_id="other") == {}


def test_the_last_commit_counts_also_after_a_failover(shard: GroupShard) -> None:
    for offset in (3, 9, 4):
        commit(shard, {0: offset}, metadata=f"at {offset}")
    shard = shard.failover()
    assert fetch(shard, 0) == {0: 4}
    committed = shard.machine.offsets.get(GROUP, "t", 0)
    assert committed is not None
    assert committed.metadata == "at 4"


def test_a_commit_without_a_group_makes_a_simple_one(shard: GroupShard) -> None:
    commit(shard, {0: 1})
    group = shard.machine.groups.require(GROUP)
    assert (group.state_name, group.protocol_type) == ("Empty", "")


@pytest.mark.parametrize(
    ("version", "expected"),
    [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)],
)
def test_a_member_of_no_group_cannot_commit(
    shard: GroupShard, version: int, expected: ErrorCode
) -> None:
    answer = commit(shard, {0: 1}, version=version, generation_id_or_member_epoch=1, member_id="m")
    assert error(answer) == expected


def test_members_commit_in_their_generation_only(shard: GroupShard) -> None:
    (member,) = shard.stable()

    def attempt(generation: int, member_id: str) -> ErrorCode:
        return error(
            commit(
                shard,
                {0: 1},
                generation_id_or_member_epoch=generation,
                member_id=member_id,
            )
        )

    assert attempt(1, member.member_id) == ErrorCode.NONE
    assert attempt(0, member.member_id) == ErrorCode.ILLEGAL_GENERATION
    assert attempt(1, "stranger") == ErrorCode.UNKNOWN_MEMBER_ID
    assert attempt(-1, "") == ErrorCode.UNKNOWN_MEMBER_ID


def test_members_may_commit_before_they_join_the_next_generation(shard: GroupShard) -> None:
    (member,) = shard.stable()
    shard.join(shard.new_member_id())
    options: dict[str, Any] = {
        "generation_id_or_member_epoch": 1,
        "member_id": member.member_id,
    }
    assert error(commit(shard, {0: 1}, **options)) == ErrorCode.NONE
    again = shard.join(member.member_id).value
    options["generation_id_or_member_epoch"] = again.generation_id
    assert error(commit(shard, {0: 1}, **options)) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_commit_is_as_good_as_a_heartbeat(shard: GroupShard) -> None:
    (member,) = shard.stable()
    for _ in range(3):
        shard.clock.advance(9)
        commit(shard, {0: 1}, generation_id_or_member_epoch=1, member_id=member.member_id)
    assert shard.state == "Stable"


def test_metadata_has_a_largest_size() -> None:
    shard = GroupShard(configs={"offset.metadata.max.bytes": "4"})
    assert error(commit(shard, {0: 1}, metadata="1234")) == ErrorCode.NONE
    too_large = commit(shard, {0: 2}, metadata="12345")
    assert error(too_large) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert error(commit(shard, {1: 1}, metadata=None)) == ErrorCode.NONE
    assert fetch(shard) == {0: 1, 1: 1}


def test_offsets_of_a_topic_that_had_the_name_before_are_not_shown(shard: GroupShard) -> None:
    before, now = Uuid(b"b" * 16), Uuid(b"n" * 16)
    commit(shard, {0: 5}, topic_id=before)
    assert fetch(shard, 0, topic_id=before) == {0: 5}
    assert fetch(shard, 0, topic_id=now) == {0: -1}
    assert fetch(shard, 0) == {0: 5}


# ---- transactions


def replay_commit(shard: GroupShard, offset: int, *, at: int, producer_id: int) -> None:
    key = OffsetCommitKey(group=GROUP, topic="t", partition=0)
    value = OffsetCommitValue(offset=offset)
    shard.machine.replay(key, value, offset=at, producer_id=producer_id)


def test_offsets_of_an_open_transaction_are_unstable(shard: GroupShard) -> None:
    replay_commit(shard, 5, at=0, producer_id=-1)
    replay_commit(shard, 9, at=1, producer_id=7)
    assert fetch(shard, 0) == {0: 5}
    assert fetch(shard, 0, require_stable=True) == {0: -ErrorCode.UNSTABLE_OFFSET_COMMIT}
    shard.machine.replay_end_transaction(7, is_committed=True)
    assert fetch(shard, 0, require_stable=True) == {0: 9}


def test_offsets_of_an_aborted_transaction_never_were(shard: GroupShard) -> None:
    replay_commit(shard, 9, at=1, producer_id=7)
    shard.machine.replay_end_transaction(7, is_committed=False)
    assert fetch(shard, 0, require_stable=True) == {0: -1}


def test_a_transaction_does_not_replace_what_was_committed_since(shard: GroupShard) -> None:
    replay_commit(shard, 9, at=1, producer_id=7)
    replay_commit(shard, 11, at=2, producer_id=-1)
    shard.machine.replay_end_transaction(7, is_committed=True)
    assert fetch(shard, 0) == {0: 11}


# ---- deleting


def delete(shard: GroupShard, *indexes: int, topic: str = "t") -> Answer:
    request = OffsetDeleteRequest(
        group_id=GROUP,
        topics=[
            OffsetDeleteRequestTopic(
                name=topic,
                partitions=[OffsetDeleteRequestPartition(partition_index=i) for i in indexes],
            )
        ],
    )
    return shard.submit(lambda groups: groups.delete_offsets(request))


def test_offsets_are_deleted(shard: GroupShard) -> None:
    commit(shard, {0: 5, 1: 6})
    assert error(delete(shard, 0, 3)) == ErrorCode.NONE
    assert fetch(shard.failover()) == {1: 6}


def test_offsets_that_are_in_use_are_not_deleted(shard: GroupShard) -> None:
    commit(shard, {0: 5})
    stable_consumer(shard, "t")
    assert error(delete(shard, 0)) == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert error(delete(shard, 0, topic="other")) == ErrorCode.NONE
    assert fetch(shard) == {0: 5}


def test_offsets_of_no_group_cannot_be_deleted(shard: GroupShard) -> None:
    assert error(delete(shard, 0)) == ErrorCode.GROUP_ID_NOT_FOUND


def test_members_that_are_no_consumers_keep_all_offsets(shard: GroupShard) -> None:
    join = shard.join(version=3, protocol_type="connect")
    shard.clock.advance(0)
    shard.sync(join.value, {})
    assert error(delete(shard, 0)) == ErrorCode.NON_EMPTY_GROUP


def test_offsets_go_with_their_topic(shard: GroupShard) -> None:
    commit(shard, dict.fromkeys(range(2500), 1))
    commit(shard, {0: 1}, group_id="other")
    shard.shard.perform(lambda groups: groups.topics_deleted(["t", "u"]))
    assert fetch(shard) == {}
    assert fetch(shard.failover(), group_id="other") == {}


def test_a_group_is_deleted_with_its_offsets(shard: GroupShard) -> None:
    commit(shard, {0: 5})
    assert shard.submit(lambda groups: groups.delete_group(GROUP)).error == ErrorCode.NONE
    answer = shard.submit(lambda groups: groups.delete_group(GROUP))
    assert answer.error == ErrorCode.GROUP_ID_NOT_FOUND
    shard = shard.failover()
    assert shard.machine.groups.get(GROUP) is None
    assert fetch(shard) == {}


def test_a_group_with_members_is_not_deleted(shard: GroupShard) -> None:
    shard.stable()
    answer = shard.submit(lambda groups: groups.delete_group(GROUP))
    assert answer.error == ErrorCode.NON_EMPTY_GROUP


# ---- expiry


def expire(shard: GroupShard) -> None:
    shard.shard.perform(lambda groups: groups.expire(GROUP))


def test_offsets_without_a_group_expire_after_their_commit(shard: GroupShard) -> None:
    commit(shard, {0: 1})
    shard.clock.advance(DAY_S)
    commit(shard, {1: 1})
    shard.clock.advance(RETENTION_S - DAY_S - 1)
    expire(shard)
    assert fetch(shard) == {0: 1, 1: 1}
    shard.clock.advance(1)
    expire(shard)
    assert fetch(shard) == {1: 1}
    shard.clock.advance(DAY_S)
    expire(shard)
    assert fetch(shard.failover()) == {}
    assert shard.machine.groups.get(GROUP) is None, "the group goes with its last offset"


def test_offsets_of_a_group_expire_after_it_became_empty(shard: GroupShard) -> None:
    member = stable_consumer(shard, "t")
    commit(shard, {0: 1}, generation_id_or_member_epoch=1, member_id=member.member_id)
    shard.clock.advance(1_000)
    shard.leave(member.member_id)
    shard.clock.advance(RETENTION_S - 1)
    expire(shard)
    assert fetch(shard) == {0: 1}
    shard.clock.advance(1)
    expire(shard)
    assert fetch(shard) == {}


def test_offsets_of_topics_that_members_consume_do_not_expire(shard: GroupShard) -> None:
    commit(shard, {0: 1})
    member = stable_consumer(shard, "t")
    for _ in range(RETENTION_S // 1_000 + 1):
        shard.clock.advance(1_001)
        assert shard.heartbeat(member.member_id, 1) == ErrorCode.NONE
    expire(shard)
    assert fetch(shard) == {0: 1}


def test_offsets_of_topics_that_members_left_behind_expire(shard: GroupShard) -> None:
    commit(shard, {0: 1})
    member = stable_consumer(shard, "other")
    for _ in range(RETENTION_S // 1_000 + 1):
        shard.clock.advance(1_001)
        assert shard.heartbeat(member.member_id, 1) == ErrorCode.NONE
    expire(shard)
    assert fetch(shard) == {}
    assert shard.state == "Stable"


def test_old_clients_say_how_long_an_offset_is_kept(shard: GroupShard) -> None:
    commit(shard, {0: 1}, version=4, retention_time_ms=5_000)
    shard = shard.failover()
    shard.clock.advance(4.999)
    expire(shard)
    assert fetch(shard) == {0: 1}
    shard.clock.advance(0.001)
    expire(shard)
    assert fetch(shard) == {}


def test_a_pending_offset_keeps_the_group(shard: GroupShard) -> None:
    replay_commit(shard, 9, at=1, producer_id=7)
    shard.clock.advance(2 * RETENTION_S)
    expire(shard)
    assert shard.machine.groups.get(GROUP) is not None
