"""Offsets within transactions: who may commit them, and what becomes of them."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.coordinator.groups.coordinator import GroupCoordinator
from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.runtime.transactional import TransactionalWriter, TransactionMarker
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.storage.producers.verification import Verification
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.records import read_header
from tests.support.coordinator.consumer_members import Member, add_topic
from tests.support.coordinator.group_shard import GROUP, Answer, GroupShard

PRODUCER, OTHER = 7, 8
T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


@pytest.fixture
def shard() -> GroupShard:
    return GroupShard()


def refuse(error: KafkaError) -> Any:
    """A refusal is answered with the error itself."""
    return error


def commit(
    shard: GroupShard,
    offset: int,
    *,
    producer_id: int = PRODUCER,
    member_id: str = "",
    generation: int = -1,
    instance_id: str | None = None,
    verification: Verification | None = None,
) -> Answer:
    request = TxnOffsetCommitRequest(
        group_id=GROUP,
        producer_id=producer_id,
        producer_epoch=0,
        generation_id=generation,
        member_id=member_id,
        group_instance_id=instance_id,
        topics=[
            TxnOffsetCommitRequestTopic(
                name="t",
                partitions=[
                    TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
                ],
            )
        ],
    )

    def operation(groups: GroupCoordinator) -> Outcome:
        return groups.commit_in_transaction(request)

    answer = Answer()
    writer = TransactionalWriter(producer_id, 0, verification)
    shard.shard.submit(operation, answer, refuse, writer=writer)
    return answer


def error_of(answer: Answer) -> ErrorCode:
    if isinstance(answer.value, KafkaError):
        return answer.value.code
    return ErrorCode(answer.value.topics[0].partitions[0].error_code)


def end(shard: GroupShard, *, commit: bool = True, producer_id: int = PRODUCER) -> list[ErrorCode]:
    results: list[ErrorCode] = []
    shard.shard.end_transaction(TransactionMarker(producer_id, 0, 0, commit), results.append)
    return results


def fetch(shard: GroupShard) -> int:
    """What is stable, or the negative code of why it is not."""
    requested = OffsetFetchRequestGroup(
        group_id=GROUP, topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    )
    answer = shard.submit(lambda groups: groups.fetch(requested, require_stable=True))
    (found,) = answer.value.topics[0].partitions
    return -found.error_code or int(found.committed_offset)


UNSTABLE = -ErrorCode.UNSTABLE_OFFSET_COMMIT


def test_the_records_are_a_part_of_the_producers_transaction(shard: GroupShard) -> None:
    verification = Verification(producer_epoch=0, sequence=-1, supports_epoch_bump=False, now_ms=0)
    assert error_of(commit(shard, 5, verification=verification)) == ErrorCode.NONE

    header = read_header(shard.log.batches[-1])
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (PRODUCER, 0, -1)
    assert header.is_transactional
    assert shard.log.verification is verification


def test_a_marker_is_appended_and_puts_them_in_force(shard: GroupShard) -> None:
    commit(shard, 5)
    assert fetch(shard) == UNSTABLE

    assert end(shard) == [ErrorCode.NONE]

    header = read_header(shard.log.batches[-1])
    assert header.is_control
    assert header.producer_id == PRODUCER
    assert fetch(shard) == 5


def test_end_of_a_transaction_is_acknowledged_when_the_marker_is_committed(
    shard: GroupShard,
) -> None:
    commit(shard, 5)
    shard.log.is_held = True

    results = end(shard)
    assert results == []
    shard.log.commit()
    assert results == [ErrorCode.NONE]


def test_or_that_is_unknown(shard: GroupShard) -> None:
    shard.log.is_held = True
    late = end(shard)
    shard.clock.advance(6)
    assert late == [ErrorCode.COORDINATOR_NOT_AVAILABLE]

    lost = end(shard)
    shard.shard.close()
    assert lost == [ErrorCode.NOT_COORDINATOR]
    assert end(shard) == [ErrorCode.NOT_COORDINATOR]


def test_a_marker_that_the_log_refuses_changes_nothing(shard: GroupShard) -> None:
    commit(shard, 5)
    shard.log.refusal = ErrorCode.TRANSACTION_COORDINATOR_FENCED

    assert end(shard) == [ErrorCode.TRANSACTION_COORDINATOR_FENCED]
    assert fetch(shard) == UNSTABLE


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_next_coordinator_knows_what_is_pending_and_what_was_decided(
    shard: GroupShard, is_committed: bool
) -> None:
    commit(shard, 5)
    shard = shard.failover()
    assert fetch(shard) == UNSTABLE

    end(shard, commit=is_committed)
    assert fetch(shard.failover()) == (5 if is_committed else -1)


def commit_plainly(shard: GroupShard, offset: int) -> None:
    request = OffsetCommitRequest(
        group_id=GROUP,
        topics=[
            OffsetCommitRequestTopic(
                name="t",
                partitions=[
                    OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
                ],
            )
        ],
    )
    answer = shard.submit(lambda groups: groups.commit(request, version=9))
    assert error_of(answer) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("plain transactional marker", 2),
        ("transactional plain marker", 2),
        ("transactional marker plain", 3),
        ("plain transactional marker plain", 4),
        ("transactional marker plain transactional marker", 4),
        ("plain plain transactional abort", 2),
        ("transactional plain abort", 2),
    ],
)
def test_the_later_record_counts_of_plain_and_transactional_commits_after_a_failover_too(
    shard: GroupShard, steps: str, expected: int
) -> None:
    """Each commits the number of its step. Where a transaction ends does not matter, but where its
    records are."""
    for number, step in enumerate(steps.split(), 1):
        if step == "plain":
            commit_plainly(shard, number)
        elif step == "transactional":
            commit(shard, number)
        else:
            end(shard, commit=step == "marker")
    assert fetch(shard) == expected
    assert fetch(shard.failover()) == expected


def test_offsets_are_unstable_while_any_producer_has_some_pending(shard: GroupShard) -> None:
    commit(shard, 5)
    commit(shard, 6, producer_id=OTHER)

    end(shard, producer_id=OTHER)
    assert fetch(shard) == UNSTABLE
    end(shard)
    # The record of the other one came later.
    assert fetch(shard) == 6


# ---- who may


def test_a_producer_without_a_member_id_may_commit_for_any_group(shard: GroupShard) -> None:
    assert error_of(commit(shard, 5)) == ErrorCode.NONE
    shard.stable()
    assert error_of(commit(shard, 6)) == ErrorCode.NONE


def test_members_are_fenced_by_their_generation(shard: GroupShard) -> None:
    (joined,) = shard.stable()
    member_id, generation = joined.member_id, joined.generation_id

    def error(**claims: Any) -> ErrorCode:
        return error_of(commit(shard, 5, **claims))

    assert error(member_id=member_id, generation=generation) == ErrorCode.NONE
    assert error(member_id=member_id, generation=0) == ErrorCode.ILLEGAL_GENERATION
    assert error(member_id="nobody", generation=generation) == ErrorCode.UNKNOWN_MEMBER_ID
    assert error(member_id=member_id) == ErrorCode.ILLEGAL_GENERATION


def test_a_generation_of_a_group_that_there_is_not_is_illegal(shard: GroupShard) -> None:
    assert error_of(commit(shard, 5, generation=3)) == ErrorCode.ILLEGAL_GENERATION
    assert shard.log.batches == []


def test_a_plain_commit_is_still_only_for_members(shard: GroupShard) -> None:
    shard.stable()
    request = OffsetCommitRequest(
        group_id=GROUP,
        topics=[
            OffsetCommitRequestTopic(
                name="t", partitions=[OffsetCommitRequestPartition(partition_index=0)]
            )
        ],
    )

    answer = shard.submit(lambda groups: groups.commit(request, version=9))
    assert answer.error == ErrorCode.UNKNOWN_MEMBER_ID


def test_members_of_the_consumer_protocol_are_fenced_by_their_epoch() -> None:
    image = MetadataImage()
    add_topic(image, "t", 1)
    shard = GroupShard(image=image)
    member = Member(shard, "member", subscribed_topic_names=["t"]).join()

    def error(**claims: Any) -> ErrorCode:
        return error_of(commit(shard, 5, **claims))

    assert error(member_id=member.id, generation=member.epoch) == ErrorCode.NONE
    # Producers know nothing of stale epochs.
    assert error(member_id=member.id, generation=member.epoch + 1) == ErrorCode.ILLEGAL_GENERATION
    assert error(member_id="nobody", generation=1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert error() == ErrorCode.NONE
    assert error(instance_id="instance") == ErrorCode.UNKNOWN_MEMBER_ID


# ---- the offsets themselves


def put(offsets: Offsets, name: TopicPartition, at: int, producer_id: int = PRODUCER) -> None:
    committed = CommittedOffset(offset=at, record_offset=at)
    offsets.put(GROUP, name, committed, producer_id=producer_id)


def test_pending_offsets_are_known_by_group_and_partition() -> None:
    offsets = Offsets()
    put(offsets, T0, 1)
    put(offsets, T0, 2, OTHER)
    put(offsets, U0, 3)

    assert offsets.has_pending(GROUP)
    assert offsets.is_pending(GROUP, "t", 0)
    assert not offsets.is_pending(GROUP, "t", 1)
    assert list(offsets.partitions_of(GROUP)) == [T0, U0]
    assert offsets.groups_with("u") == [GROUP]

    offsets.end_transaction(PRODUCER, is_committed=False)
    assert offsets.is_pending(GROUP, "t", 0)
    assert not offsets.is_pending(GROUP, "u", 0)
    offsets.end_transaction(OTHER, is_committed=True)
    assert not offsets.has_pending(GROUP)
    assert list(offsets.partitions_of(GROUP)) == [T0]


def test_a_removal_takes_back_what_every_transaction_would_commit() -> None:
    offsets = Offsets()
    for producer_id in (PRODUCER, OTHER):
        put(offsets, T0, 1, producer_id)
    put(offsets, T1, 2)

    offsets.remove(GROUP, T0)

    assert not offsets.is_pending(GROUP, "t", 0)
    for producer_id in (PRODUCER, OTHER):
        offsets.end_transaction(producer_id, is_committed=True)
    assert list(offsets.partitions_of(GROUP)) == [T1]
    assert not offsets.has_pending(GROUP)


def test_the_end_of_a_transaction_without_offsets_is_nothing() -> None:
    offsets = Offsets()
    offsets.end_transaction(PRODUCER, is_committed=True)
    assert not offsets.has_pending(GROUP)
