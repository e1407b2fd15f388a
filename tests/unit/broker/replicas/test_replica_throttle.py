"""A replica that is behind is sent no more than the throttles allow."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.broker.replicas.replica_throttle import ReplicaThrottle
from ottla.configs import ConfigOperation, ConfigResourceType
from ottla.replication.partition import Partition
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.nodes.one_node import NODE_ID, OneNode
from tests.support.nodes.registered_follower import FOLLOWER, led_partition
from tests.support.storage.batches import batch_of


def configure(node: OneNode, kind: ConfigResourceType, name: str, **configs: str) -> None:
    resource = AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            AlterableConfig(
                name=key.replace("_", "."), config_operation=ConfigOperation.SET, value=value
            )
            for key, value in configs.items()
        ],
    )
    (answer,) = node.send_request(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses
    assert answer.error_code == 0, answer.error_message


def throttle(node: OneNode, *, rate: int, replicas: str) -> None:
    broker, topic = ConfigResourceType.BROKER, ConfigResourceType.TOPIC
    configure(node, broker, str(NODE_ID), leader_replication_throttled_rate=str(rate))
    configure(node, topic, "orders", leader_replication_throttled_replicas=replicas)


class FollowerSession:
    """Fetches in one session, and asks for more of the partition as it gets it."""

    def __init__(self, node: OneNode, partition: Partition) -> None:
        self._node = node
        self._partition = partition
        self._session = (0, 0)
        self.offset = 0

    def fetch(self, *, says_position: bool = True) -> int:
        """How many bytes came."""
        requested = FetchPartition(
            partition=0,
            current_leader_epoch=self._partition.leader_epoch,
            fetch_offset=self.offset,
            partition_max_bytes=5_000,
        )
        topics = [FetchTopic(topic_id=self._partition.topic_id, partitions=[requested])]
        session_id, epoch = self._session
        request = FetchRequest(
            replica_state=ReplicaState(replica_id=FOLLOWER, replica_epoch=-1),
            max_wait_ms=0,
            min_bytes=1,
            session_id=session_id,
            session_epoch=epoch,
            topics=topics if says_position else [],
        )
        response: Any = self._node.send_request(request, 18)
        assert response.error_code == 0
        self._session = (response.session_id, epoch + 1)
        data = [each for topic in response.responses for each in topic.partitions]
        size = sum(len(each.records or b"") for each in data)
        # Every batch has one record.
        self.offset += size // len(batch_of(bytes(1_000)))
        return size


def test_a_throttled_replica_waits_until_the_rate_allows_more(node: OneNode) -> None:
    partition = led_partition(node)
    throttle(node, rate=1_000, replicas="0:1")
    follower = FollowerSession(node, partition)

    first = follower.fetch()
    assert first > 0, "nothing has gone by yet"
    assert follower.fetch() == 0
    # It is looked at again though the follower has nothing new to say.
    node.clock.advance(first / 1_000 + 1)
    assert follower.fetch(says_position=False) > 0


def test_other_replicas_are_not_held_back(node: OneNode) -> None:
    partition = led_partition(node)
    throttle(node, rate=1_000, replicas="0:2,1:1")
    follower = FollowerSession(node, partition)
    assert follower.fetch() > 0
    assert follower.fetch() > 0


def test_a_throttle_counts_and_is_lifted_at_once(node: OneNode) -> None:
    partition = led_partition(node)
    throttle(node, rate=1_000, replicas="*")
    follower = FollowerSession(node, partition)
    assert follower.fetch() > 0
    assert follower.fetch() == 0
    topic = ConfigResourceType.TOPIC
    configure(node, topic, "orders", leader_replication_throttled_replicas="")
    assert follower.fetch() > 0
    configure(node, topic, "orders", leader_replication_throttled_replicas="*")
    assert follower.fetch() == 0
    configure(
        node, ConfigResourceType.BROKER, str(NODE_ID), leader_replication_throttled_rate="1000000"
    )
    assert follower.fetch() > 0


@pytest.mark.parametrize(
    ("replicas", "is_throttled"),
    [("*", True), ("", False), ("0:1", True), ("0:2", False), ("1:1, 0:1", True), ("1:1", False)],
)
def test_replicas_are_named_by_partition_and_broker(
    node: OneNode, replicas: str, is_throttled: bool
) -> None:
    partition = led_partition(node)
    throttle(node, rate=1_000, replicas=replicas)
    measured = ReplicaThrottle(node.broker.cluster, node.clock, "leader")
    measured.record(partition, 1_000_000)
    assert measured.is_exceeded(partition) == is_throttled
    # The other side has configs of its own.
    assert not ReplicaThrottle(node.broker.cluster, node.clock, "follower").is_exceeded(partition)
