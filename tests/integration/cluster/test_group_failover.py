"""The coordinator of a busy group is killed: its members go on as if nothing had happened."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from tests.integration.cluster.cluster_view import create_topic, wait_in_sync
from tests.integration.cluster.clusters import PLAINTEXT, SECURED, running_cluster
from tests.integration.cluster.group_load import CommittingConsumer
from tests.integration.cluster.load import TimedProducer
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until
from tests.support.soak import IS_SOAK, at_scale

TOPIC = "load"
PARTITIONS = 6
MEMBERS = 3
PROPERTIES = {"offsets.topic.num.partitions": "3"}
COMMITS_GO_ON_SECONDS_MAX = 3.0
LONG = pytest.mark.skipif(not IS_SOAK, reason="takes long: make soak")
# Commits of each member between two events.
STEADY = 5


@pytest.mark.parametrize("repetition", range(at_scale(quick=1, soak=5)))
@pytest.mark.parametrize(
    ("kind", "protocol"),
    [
        (PLAINTEXT, "consumer"),
        (PLAINTEXT, "classic"),
        pytest.param(SECURED, "consumer", marks=LONG),
        pytest.param(SECURED, "classic", marks=LONG),
    ],
)
def test_members_keep_their_partitions_commits_go_on_and_no_offset_is_lost(
    tmp_path: Path, kind: str, protocol: str, repetition: int
) -> None:
    with running_cluster(kind, tmp_path, PROPERTIES) as cluster, ExitStack() as stack:
        create_topic(cluster, TOPIC, [(1, 2, 3), (2, 3, 1), (3, 1, 2)] * (PARTITIONS // 3))
        with TimedProducer(cluster.client, TOPIC, PARTITIONS) as producer:
            members = [
                stack.enter_context(CommittingConsumer(cluster.client, TOPIC, protocol))
                for _ in range(MEMBERS)
            ]
            wait_until(lambda: are_spread(members), "the group has formed")
            wait_in_sync(cluster, "__consumer_offsets")
            for member in members:
                member.wait_commits(more=STEADY)
                member.lost.clear()
            before = [member.partitions for member in members]
            coordinator = coordinator_of(cluster, TOPIC)

            killed_at = time.perf_counter()
            cluster.nodes[coordinator].kill()
            acknowledged = committed_of(members)
            for member in members:
                member.wait_commits(more=STEADY)
            gaps = [gap_after(member, killed_at) for member in members]
            stored = committed_offsets(cluster, TOPIC)
        assert [member.lost for member in members] == [[]] * MEMBERS
        assert [member.partitions for member in members] == before
        assert all(stored[index] >= offset for index, offset in acknowledged.items())
        wait_until(lambda: has_read_all(producer, members), "everything written is consumed")
        print(
            f"\n{protocol}: the longest gap between commits of each member was "
            f"{', '.join(f'{gap:.2f}' for gap in gaps)} s (load {os.getloadavg()[0]:.1f})"
        )
        assert max(gaps) < COMMITS_GO_ON_SECONDS_MAX
        cluster.assert_no_traceback()


def are_spread(members: list[CommittingConsumer]) -> bool:
    owned = [partition for member in members for partition in member.partitions]
    share = PARTITIONS // MEMBERS
    return sorted(owned) == list(range(PARTITIONS)) and all(
        len(member.partitions) == share for member in members
    )


def coordinator_of(cluster: ClusterProcesses, group: str) -> int:
    admin = AdminClient({**cluster.admin, "log_level": 0})
    described = admin.describe_consumer_groups([group])[group].result()
    node_id: int = described.coordinator.id
    return node_id


def committed_offsets(cluster: ClusterProcesses, group: str) -> dict[int, int]:
    admin = AdminClient({**cluster.admin, "log_level": 0})
    listed = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[
        group
    ].result()
    return {each.partition: each.offset for each in listed.topic_partitions}


def committed_of(members: list[CommittingConsumer]) -> dict[int, int]:
    return {index: offset for member in members for index, offset in member.committed.items()}


def gap_after(member: CommittingConsumer, moment: float) -> float:
    """The longest time without an acknowledged commit since then."""
    times = [moment, *(each for each in member.committed_at if each > moment)]
    return max(later - earlier for earlier, later in pairwise(times))


def has_read_all(producer: TimedProducer, members: list[CommittingConsumer]) -> bool:
    # Members read on meanwhile; a copy is made in one step.
    read = {place for member in members for place in tuple(member.read)}
    return all(
        (index, offset) in read
        for index in range(PARTITIONS)
        for offset in producer.acknowledged[index]
    )
