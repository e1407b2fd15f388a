from __future__ import annotations

import pytest

from ottla.model import ErrorCode, LeaderEpoch
from ottla.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.support.nodes.one_node import OneNode
from tests.support.storage.batches import batch_of

UNDEFINED = (-1, -1)


def epoch_end(
    node: OneNode, epoch: int, *, current: int = -1, topic: str = "orders", version: int = 4
) -> EpochEndOffset:
    requested = OffsetForLeaderPartition(
        partition=0, current_leader_epoch=current, leader_epoch=epoch
    )
    request = OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(topic=topic, partitions=[requested])]
    )
    answer: EpochEndOffset = node.send_request(request, version).topics[0].partitions[0]
    return answer


def end(node: OneNode, epoch: int) -> tuple[int, int]:
    answer = epoch_end(node, epoch)
    assert answer.error_code == ErrorCode.NONE
    return answer.leader_epoch, answer.end_offset


def lead(node: OneNode, epoch: int) -> None:
    node.broker.partitions.by_name("orders", 0).leader_epoch = LeaderEpoch(epoch)


def with_epochs(node: OneNode) -> None:
    """Epoch 0 has offsets 0 and 1, epoch 2 has offset 2."""
    node.create_topic("orders")
    node.append("orders", batch_of(b"a"), batch_of(b"b"))
    lead(node, 2)
    node.append("orders", batch_of(b"c"))


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_epoch_ends_where_the_next_begins(node: OneNode, version: int) -> None:
    with_epochs(node)

    answer = epoch_end(node, 0, version=version)

    assert (answer.leader_epoch, answer.end_offset) == (0, 2)


def test_the_present_epoch_ends_with_the_log(node: OneNode) -> None:
    with_epochs(node)

    assert end(node, 2) == (2, 3)


def test_an_epoch_in_between_is_answered_with_the_one_before(node: OneNode) -> None:
    with_epochs(node)

    assert end(node, 1) == (0, 2)


def test_an_epoch_that_never_was_has_no_end(node: OneNode) -> None:
    with_epochs(node)

    assert end(node, 3) == UNDEFINED
    assert end(node, -1) == UNDEFINED


def test_an_epoch_without_records_counts_from_its_beginning(node: OneNode) -> None:
    with_epochs(node)
    lead(node, 5)

    assert end(node, 5) == (5, 3)
    assert end(node, 4) == (2, 3)
    assert end(node, 2) == (2, 3)
    assert end(node, 6) == UNDEFINED


def test_an_empty_log_has_the_leaders_epoch(node: OneNode) -> None:
    node.create_topic("orders")
    lead(node, 1)

    assert end(node, 1) == (1, 0)
    assert end(node, 0) == (0, 0)
    assert end(node, 2) == UNDEFINED


def test_a_client_with_another_epoch_is_fenced(node: OneNode) -> None:
    with_epochs(node)

    assert epoch_end(node, 0, current=1).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert epoch_end(node, 0, current=3).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert epoch_end(node, 0, topic="users").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
