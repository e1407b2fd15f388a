from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ottla.model import ErrorCode
from ottla.replication.partition import Isolation, Partition
from ottla.simulation import Operation
from ottla.storage.log.offset_lookup import SpecialTimestamp
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.wire.records.compression import Codec
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_around, batch_of, raw_record
from tests.support.storage.held_background import HeldBackground, settle

LATEST_VERSION = 11
CONSUMER, DEBUGGER = -1, -2


def list_offset(
    node: OneNode,
    timestamp: int,
    *,
    topic: str = "orders",
    version: int = LATEST_VERSION,
    epoch: int = -1,
    replica_id: int = CONSUMER,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
) -> ListOffsetsPartitionResponse:
    requested = ListOffsetsPartition(
        partition_index=0, current_leader_epoch=epoch, timestamp=timestamp
    )
    request = ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation if version >= 2 else 0,
        topics=[ListOffsetsTopic(name=topic, partitions=[requested])],
    )
    answer: ListOffsetsPartitionResponse = (
        node.send_request(request, version).topics[0].partitions[0]
    )
    return answer


def with_records(node: OneNode) -> None:
    """Offsets 0 to 3 at times 1000, 3000, 2000 and 3000."""
    node.create_topic("orders")
    for timestamp in (1_000, 3_000, 2_000, 3_000):
        node.append("orders", batch_of(b"value", timestamp=timestamp))


@pytest.mark.parametrize("version", range(1, 12))
def test_both_ends_are_found_in_every_version(node: OneNode, version: int) -> None:
    with_records(node)
    node.log("orders").delete_records_before(1)

    assert list_offset(node, SpecialTimestamp.EARLIEST, version=version).offset == 1
    assert list_offset(node, SpecialTimestamp.LATEST, version=version).offset == 4


def test_leader_epochs_are_returned_since_version_4(node: OneNode) -> None:
    with_records(node)

    for timestamp in (SpecialTimestamp.EARLIEST, SpecialTimestamp.LATEST, 1_000):
        assert list_offset(node, timestamp, version=4).leader_epoch == 0


def test_both_ends_of_an_empty_log_are_in_the_leaders_epoch(node: OneNode) -> None:
    node.create_topic("orders")

    for timestamp in (SpecialTimestamp.EARLIEST, SpecialTimestamp.LATEST):
        found = list_offset(node, timestamp)
        assert (found.offset, found.leader_epoch, found.timestamp) == (0, 0, -1)


def test_a_time_finds_the_first_record_that_is_not_earlier(node: OneNode) -> None:
    with_records(node)

    found = list_offset(node, 1_500)

    assert (found.timestamp, found.offset) == (3_000, 1)


def test_a_time_after_all_records_finds_nothing_which_is_no_error(node: OneNode) -> None:
    with_records(node)

    found = list_offset(node, 3_001)

    assert (found.error_code, found.timestamp, found.offset) == (ErrorCode.NONE, -1, -1)


def test_the_largest_timestamp_is_found_where_it_is_first(node: OneNode) -> None:
    with_records(node)

    found = list_offset(node, SpecialTimestamp.MAX_TIMESTAMP)

    assert (found.timestamp, found.offset) == (3_000, 1)


def test_without_tiers_everything_is_local(node: OneNode) -> None:
    with_records(node)

    assert list_offset(node, SpecialTimestamp.EARLIEST_LOCAL).offset == 0
    assert list_offset(node, SpecialTimestamp.LATEST_TIERED).offset == -1
    assert list_offset(node, SpecialTimestamp.EARLIEST_PENDING_UPLOAD).offset == -1


@pytest.mark.parametrize(
    ("timestamp", "first_version"),
    [
        (SpecialTimestamp.MAX_TIMESTAMP, 7),
        (SpecialTimestamp.EARLIEST_LOCAL, 8),
        (SpecialTimestamp.LATEST_TIERED, 9),
        (SpecialTimestamp.EARLIEST_PENDING_UPLOAD, 11),
    ],
)
def test_a_special_timestamp_is_refused_before_its_version(
    node: OneNode, timestamp: int, first_version: int
) -> None:
    with_records(node)

    refused = list_offset(node, timestamp, version=first_version - 1)
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert list_offset(node, timestamp, version=first_version).error_code == ErrorCode.NONE


def test_an_unknown_special_timestamp_is_refused(node: OneNode) -> None:
    with_records(node)

    assert list_offset(node, -7).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_read_committed_consumers_see_nothing_of_an_open_transaction(node: OneNode) -> None:
    with_records(node)
    open_transaction = batch_of(
        b"value", timestamp=5_000, producer_id=9, sequence=0, is_transactional=True
    )
    node.append("orders", open_transaction)

    def seen(timestamp: int, isolation: Isolation) -> int:
        return list_offset(node, timestamp, isolation=isolation).offset

    assert seen(SpecialTimestamp.LATEST, Isolation.READ_COMMITTED) == 4
    assert seen(SpecialTimestamp.LATEST, Isolation.READ_UNCOMMITTED) == 5
    assert seen(5_000, Isolation.READ_COMMITTED) == -1
    assert seen(5_000, Isolation.READ_UNCOMMITTED) == 4


def test_consumers_see_committed_records_and_others_see_all(node: OneNode) -> None:
    with_records(node)
    node.log("orders").high_watermark = 2

    assert list_offset(node, SpecialTimestamp.LATEST).offset == 2
    assert list_offset(node, SpecialTimestamp.LATEST, replica_id=DEBUGGER).offset == 4
    assert list_offset(node, 2_000, replica_id=DEBUGGER).offset == 1
    assert list_offset(node, SpecialTimestamp.MAX_TIMESTAMP).offset == 1
    node.log("orders").high_watermark = 1
    assert list_offset(node, SpecialTimestamp.MAX_TIMESTAMP).offset == -1


def test_another_leader_epoch_is_fenced(node: OneNode) -> None:
    with_records(node)

    unknown = list_offset(node, SpecialTimestamp.LATEST, epoch=1)
    assert unknown.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert list_offset(node, SpecialTimestamp.LATEST, epoch=0).error_code == ErrorCode.NONE


@pytest.mark.parametrize("isolation", list(Isolation))
def test_a_new_leader_returns_no_end_before_its_high_watermark_is_known(
    node: OneNode, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    with_records(node)
    node.log("orders").high_watermark = 1
    monkeypatch.setattr(Partition, "is_high_watermark_settled", False)

    def error(timestamp: int, replica_id: int = CONSUMER, version: int = LATEST_VERSION) -> int:
        return list_offset(
            node, timestamp, isolation=isolation, replica_id=replica_id, version=version
        ).error_code

    for timestamp in (SpecialTimestamp.LATEST, SpecialTimestamp.MAX_TIMESTAMP, 2_000):
        assert error(timestamp) == ErrorCode.OFFSET_NOT_AVAILABLE
        assert error(timestamp, replica_id=DEBUGGER) == ErrorCode.NONE
    assert error(SpecialTimestamp.LATEST, version=4) == ErrorCode.LEADER_NOT_AVAILABLE
    # The offset that is known to be committed is returned.
    assert error(SpecialTimestamp.EARLIEST) == ErrorCode.NONE
    assert list_offset(node, 500, isolation=isolation).offset == 0


def test_an_unknown_partition_and_one_named_twice_are_refused(node: OneNode) -> None:
    node.create_topic("orders")
    twice = [ListOffsetsPartition(partition_index=0, timestamp=-1)] * 2
    request = ListOffsetsRequest(
        replica_id=CONSUMER, topics=[ListOffsetsTopic(name="orders", partitions=twice)]
    )

    assert list_offset(node, -1, topic="users").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    answers = node.send_request(request, LATEST_VERSION).topics[0].partitions
    assert {each.error_code for each in answers} == {ErrorCode.INVALID_REQUEST}


def test_a_failing_disk_is_reported_and_takes_the_partition_offline(node: OneNode) -> None:
    with_records(node)
    node.disk.faults.fail("/data/orders-0", Operation.READ)

    assert list_offset(node, 1_500).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    node.disk.faults.heal("/data/orders-0")
    assert list_offset(node, SpecialTimestamp.LATEST).error_code == ErrorCode.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_of_garbage_that_has_to_be_searched_is_an_error(
    node: OneNode, codec: Codec
) -> None:
    with_records(node)
    node.append("orders", batch_around(b"garbage", codec=codec, timestamp=5_000))

    assert list_offset(node, 4_000).error_code == ErrorCode.CORRUPT_MESSAGE
    assert list_offset(node, 2_500).offset == 1


def test_a_large_batch_is_searched_by_a_worker(start_node: StartNode) -> None:
    background = HeldBackground()
    node = start_node(background=background)
    with_records(node)
    values = [bytes(1_000)] * 1_000
    node.append("orders", batch_of(*values, timestamp=5_000, codec=Codec.ZSTD))
    node.append("orders", batch_of(b"v", timestamp=6_000))
    background.hold()

    async def scenario() -> None:
        small = await started(node, 2_500)
        assert small.result().topics[0].partitions[0].offset == 1
        large, beyond = await started(node, 4_000), await started(node, 5_500)
        assert not large.done()
        assert beyond.result().topics[0].partitions[0].offset == 1_004
        await background.release()
        assert large.result().topics[0].partitions[0].offset == 4

    node.run(scenario())


async def started(node: OneNode, timestamp: int) -> asyncio.Task[Any]:
    requested = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    topics = [ListOffsetsTopic(name="orders", partitions=[requested])]
    task = asyncio.ensure_future(
        node.answer(ListOffsetsRequest(replica_id=CONSUMER, topics=topics), LATEST_VERSION)
    )
    await settle()
    return task


def test_headers_that_promise_later_records_than_there_are_are_searched_and_passed(
    node: OneNode,
) -> None:
    node.create_topic("orders")
    for _ in range(5):
        node.append("orders", batch_around(raw_record(), timestamp=1_000, max_timestamp=9_000))
    node.append("orders", batch_of(b"v", timestamp=5_000))

    assert list_offset(node, 2_000).offset == 5
