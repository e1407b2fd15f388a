"""The table of a node's partitions."""

from __future__ import annotations

import pytest

from ottla.metadata.topic import TopicImage, Topics
from ottla.model import ErrorCode, KafkaError, LeaderEpoch, NodeId, TopicPartition, Uuid
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from tests.support.replication.replicas import registered

TOPIC_ID = Uuid(b"t" * 16)


def test_fetch_that_waits_for_a_removed_topic_fails_as_unknown() -> None:
    partitions = Partitions()
    name = TopicPartition("t", 0)
    partition = Partition(name, TOPIC_ID, leader=NodeId(1), leader_epoch=LeaderEpoch(0))
    partitions.add(partition)
    owner = object()
    looked: list[ErrorCode] = []

    def look(size: int) -> None:
        assert size > 2**30, "not enough for every thread to look"
        partition.forget(owner)
        with pytest.raises(KafkaError) as gone:
            partitions.by_id(TOPIC_ID, 0)
        looked.append(gone.value.code)

    partition.when_appended(owner, look)

    assert partitions.remove_topic(TOPIC_ID) == [partition]

    assert looked == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert partitions.get(name) is None


def test_a_removed_replica_is_elsewhere_as_long_as_its_topic_is_there() -> None:
    topics = Topics()
    topics.add(TopicImage(TOPIC_ID, "t", {0: registered(), 1: registered()}))
    partitions = Partitions(lambda: topics)
    both = [
        Partition(
            TopicPartition("t", index), TOPIC_ID, leader=NodeId(1), leader_epoch=LeaderEpoch(0)
        )
        for index in range(2)
    ]
    for partition in both:
        partitions.add(partition)
    for partition in both:
        partitions.remove(partition)
        assert not partition.is_leader
    assert len(partitions) == 0

    elsewhere, unknown = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert refusals(partitions) == [elsewhere, elsewhere, elsewhere, elsewhere, unknown, unknown]
    topics.remove(topics.by_id[TOPIC_ID])
    unknown_id = ErrorCode.UNKNOWN_TOPIC_ID
    assert refusals(partitions) == [unknown, unknown_id, unknown, unknown_id, unknown, unknown_id]


def refusals(partitions: Partitions) -> list[ErrorCode]:
    """Of two partitions that there were, and of one that there never was; by name and by id."""
    codes = []
    for index in range(3):
        with pytest.raises(KafkaError) as refused:
            partitions.by_name("t", index)
        codes.append(refused.value.code)
        with pytest.raises(KafkaError) as refused:
            partitions.by_id(TOPIC_ID, index)
        codes.append(refused.value.code)
    return codes
