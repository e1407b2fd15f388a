from __future__ import annotations

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
    DescribeQuorumResponsePartitionData,
)
from tests.support.nodes.one_node import NODE_ID, OneNode


def describe(
    node: OneNode, topic: str = "__cluster_metadata", *, version: int = 2
) -> DescribeQuorumResponsePartitionData:
    requested = DescribeQuorumRequestTopicData(
        topic_name=topic, partitions=[DescribeQuorumRequestPartitionData(partition_index=0)]
    )
    response = node.send_request(DescribeQuorumRequest(topics=[requested]), version)
    assert response.error_code == ErrorCode.NONE
    partition: DescribeQuorumResponsePartitionData = response.topics[0].partitions[0]
    return partition


@pytest.mark.parametrize("version", range(3))
def test_this_node_is_the_quorum(node: OneNode, version: int) -> None:
    described = describe(node, version=version)

    assert (described.error_code, described.leader_id) == (ErrorCode.NONE, NODE_ID)
    assert described.leader_epoch == node.controller.quorum.leader_and_epoch.epoch
    (voter,) = described.current_voters
    assert (voter.replica_id, voter.log_end_offset) == (NODE_ID, described.high_watermark)
    assert described.observers == []
    if version >= 2:
        assert voter.replica_directory_id == node.broker.logs.directories[0].id


def test_the_quorum_moves_on_with_the_metadata(node: OneNode) -> None:
    before = describe(node).high_watermark
    node.create_topic("orders")

    assert describe(node).high_watermark > before


def test_other_topics_have_no_quorum(node: OneNode) -> None:
    assert describe(node, "orders").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
