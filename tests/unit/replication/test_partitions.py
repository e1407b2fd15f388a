"""The table of a node's partitions."""

from __future__ import annotations

import pytest

from ottla.model import ErrorCode, KafkaError, LeaderEpoch, NodeId, TopicPartition, Uuid
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions

TOPIC_ID = Uuid(b"t" * 16)


def test_who_waits_for_records_of_a_removed_topic_finds_it_gone() -> None:
    partitions = Partitions()
    name = TopicPartition("t", 0)
    partition = Partition(name, TOPIC_ID, leader=NodeId(1), leader_epoch=LeaderEpoch(0))
    partitions.add(partition)
    owner = object()
    looked: list[ErrorCode] = []

    def look(size: int) -> None:
        assert size > 2**30, "not enough for everybody to look"
        partition.forget(owner)
        with pytest.raises(KafkaError) as gone:
            partitions.by_id(TOPIC_ID, 0)
        looked.append(gone.value.code)

    partition.when_appended(owner, look)

    assert partitions.remove_topic(TOPIC_ID) == [partition]

    assert looked == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert partitions.get(name) is None


def test_a_removed_replica_is_unknown_and_its_topic_with_the_last_one() -> None:
    partitions = Partitions()
    both = [
        Partition(
            TopicPartition("t", index), TOPIC_ID, leader=NodeId(1), leader_epoch=LeaderEpoch(0)
        )
        for index in range(2)
    ]
    for partition in both:
        partitions.add(partition)
    codes = []
    for partition in both:
        partitions.remove(partition)
        assert not partition.is_leader
        with pytest.raises(KafkaError) as gone:
            partitions.by_id(TOPIC_ID, partition.name.partition)
        codes.append(gone.value.code)
    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID]
    assert len(partitions) == 0
