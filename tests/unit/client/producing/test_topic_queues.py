"""Which partition a record goes to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ottla.client import PartitionChoiceError
from ottla.client.producing.batch import BatchFormat, ProducerBatch
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.client.producing.topic_queues import TopicQueues
from ottla.model import TopicPartition
from ottla.simulation import SeededDice


def queues_of(count: int, *, leaderless: int = -1, **settings: Any) -> TopicQueues:
    return TopicQueues(
        "t",
        [
            PartitionQueue(TopicPartition("t", index), BatchFormat(), in_flight_max=5)
            for index in range(count)
        ],
        SeededDice(1),
        lambda queue: queue.partition.partition != leaderless,
        **{
            "batch_size": 100,
            "chooser": None,
            "ignores_keys": False,
            "is_adaptive": True,
            **settings,
        },
    )


def test_keys_have_the_partitions_of_kafkas_own_producer() -> None:
    # By org.apache.kafka.common.utils.Utils.murmur2.
    queues = queues_of(1_000)
    assert [queues.choose(key, None).partition.partition for key in (b"21", b"foobar", b"")] == [
        (-973932308 & 0x7FFFFFFF) % 1_000,
        (-790332482 & 0x7FFFFFFF) % 1_000,
        (275646681 & 0x7FFFFFFF) % 1_000,
    ]


def test_records_without_a_key_stay_until_they_are_a_batch_of_bytes() -> None:
    queues = queues_of(10)
    first = queues.sticky
    queues.batch_closed(first, 60, is_full=False)
    assert queues.choose(None, None) is first
    queues.batch_closed(first, 60, is_full=False)
    visited: Counter[int] = Counter()
    for _ in range(200):
        chosen = queues.choose(None, None)
        visited[chosen.partition.partition] += 1
        queues.batch_closed(chosen, 90, is_full=True)
    assert len(visited) == 10


def test_a_partition_with_a_long_queue_or_no_leader_is_chosen_rarely_or_never() -> None:
    queues = queues_of(3, leaderless=2)
    for _ in range(9):
        queues.queues[0].ready.append(
            ProducerBatch(TopicPartition("t", 0), 0, deadline=0.0, reserved=0)
        )
    visited: Counter[int] = Counter()
    for _ in range(500):
        chosen = queues.choose(None, None)
        visited[chosen.partition.partition] += 1
        queues.batch_closed(chosen, 100, is_full=True)
    assert visited[2] == 0
    assert 0 < visited[0] < visited[1] / 4


def test_keys_can_be_ignored_and_other_partitioners_be_given() -> None:
    ignoring = queues_of(9, ignores_keys=True)
    assert ignoring.choose(b"key", None) is ignoring.sticky
    in_turn = queues_of(3, chooser="round_robin")
    turns = [in_turn.choose(b"k", None).partition.partition for _ in range(4)]
    assert turns == [1, 2, 0, 1]
    own = queues_of(3, chooser=lambda topic, key, count: count - 1)
    assert own.choose(b"k", None).partition.partition == 2
    assert own.choose(b"k", 0).partition.partition == 0


@pytest.mark.parametrize("partition", [-1, 3])
def test_a_partition_that_does_not_exist_is_refused(partition: int) -> None:
    with pytest.raises(PartitionChoiceError, match="it has 3"):
        queues_of(3).choose(None, partition)


def test_more_partitions_change_where_keys_go() -> None:
    queues = queues_of(1)
    assert queues.choose(b"21", None).partition.partition == 0
    queues.grow(queues_of(7).queues)
    assert queues.choose(b"21", None).partition.partition == (-973932308 & 0x7FFFFFFF) % 7
