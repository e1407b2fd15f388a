"""The APIs of share groups, through their bytes."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.model import ErrorCode, Uuid
from ottla.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from ottla.wire.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest
from ottla.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.support.nodes.one_node import OneNode, StartNode

GROUP = "g"
FEW = {"offsets.topic.num.partitions": "2", "share.coordinator.state.topic.num.partitions": "2"}


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    node = start_node(configs=FEW)
    node.create_topic("t")
    node.send_request(FindCoordinatorRequest(coordinator_keys=[GROUP]), 6)
    return node


def join(node: OneNode, member: str = "m") -> Any:
    return node.send_request(
        ShareGroupHeartbeatRequest(
            group_id=GROUP, member_id=member, subscribed_topic_names=["t"]
        ),
        1,
    )


def test_first_member_gets_the_partition_when_its_state_is_initialized(node: OneNode) -> None:
    response = join(node)
    assert response.error_code == 0, response
    assert response.assignment.topic_partitions[0].partitions == [0]
