"""The lag that a cluster exports is the one that Kafka's tools and clients show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.cimpl import NewTopic

from tests.conformance.java_tools.cluster import ClusterTools
from tests.conformance.java_tools.test_groups import rows
from tests.support.monitoring.monitored_cluster import MetricsPorts
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until

TOPIC = "lag"
PARTITIONS = 6
RECORDS = 20
TIMEOUT_SECONDS = 30.0
# By group, the committed offset of each partition.
COMMITTED = {
    "billing": [0, 3, 7, 20, 19, 5],
    "shipping": [20, 20, 20, 20, 20, 20],
    "reports": [1, 1, 1, 1, 1, 1],
}

Lag = dict[tuple[str, ...], float]


@pytest.fixture(scope="module")
def admin(cluster: ClusterProcesses) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap})


@pytest.fixture(scope="module", autouse=True)
def groups(cluster: ClusterProcesses, admin: AdminClient) -> Iterator[None]:
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)])[TOPIC].result(TIMEOUT_SECONDS)
    produce(cluster, RECORDS)
    for group, offsets in COMMITTED.items():
        positions = [TopicPartition(TOPIC, index, offset) for index, offset in enumerate(offsets)]
        commit(admin, group, positions)
    yield
    for future in admin.delete_consumer_groups(list(COMMITTED)).values():
        future.result(TIMEOUT_SECONDS)
    admin.delete_topics([TOPIC])[TOPIC].result(TIMEOUT_SECONDS)


def commit(admin: AdminClient, group: str, positions: list[TopicPartition]) -> None:
    """Again while the coordinator is still being elected: the client does not try again."""

    def is_committed() -> bool:
        requested = [ConsumerGroupTopicPartitions(group, positions)]
        result = admin.alter_consumer_group_offsets(requested)[group].result(TIMEOUT_SECONDS)
        return all(each.error is None for each in result.topic_partitions)

    wait_until(is_committed, f"{group} has committed")


def produce(cluster: ClusterProcesses, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for index in range(PARTITIONS):
        for _ in range(count):
            producer.produce(TOPIC, b"x", partition=index)
    assert producer.flush(TIMEOUT_SECONDS) == 0


def exported(cluster: ClusterProcesses, metrics: MetricsPorts, name: str) -> Lag:
    """The series of all nodes; none may be exported by two of them."""
    found: Lag = {}
    for node in cluster.brokers:
        series = metrics.scrape(node).by_labels(name, "group", "topic", "partition")
        assert not found.keys() & series.keys()
        found |= {key: value for key, value in series.items() if key[1] == TOPIC}
    return found


def end_of(admin: AdminClient, index: int) -> int:
    latest: Any = OffsetSpec
    name = TopicPartition(TOPIC, index)
    found: int = admin.list_offsets({name: latest.latest()})[name].result(TIMEOUT_SECONDS).offset
    return found


def by_client(admin: AdminClient) -> Lag:
    ends = [end_of(admin, index) for index in range(PARTITIONS)]
    lag: Lag = {}
    for group in COMMITTED:
        requested = [ConsumerGroupTopicPartitions(group)]
        committed = admin.list_consumer_group_offsets(requested)[group].result(TIMEOUT_SECONDS)
        for each in committed.topic_partitions:
            lag[group, TOPIC, str(each.partition)] = ends[each.partition] - each.offset
    return lag


def test_the_lag_of_all_groups_is_what_clients_compute(
    cluster: ClusterProcesses, metrics: MetricsPorts, admin: AdminClient
) -> None:
    lag = exported(cluster, metrics, "ottla_group_lag_records")
    assert lag == by_client(admin)
    assert len(lag) == PARTITIONS * len(COMMITTED)
    produce(cluster, 1)
    assert exported(cluster, metrics, "ottla_group_lag_records") == by_client(admin)
    assert exported(cluster, metrics, "ottla_group_committed_offset") == {
        (group, TOPIC, str(index)): offset
        for group, offsets in COMMITTED.items()
        for index, offset in enumerate(offsets)
    }


@pytest.mark.java
def test_the_lag_is_what_kafka_consumer_groups_shows(
    cluster: ClusterProcesses, metrics: MetricsPorts, tools: ClusterTools
) -> None:
    lag = exported(cluster, metrics, "ottla_group_lag_records")
    for group in COMMITTED:
        shown = rows(tools("kafka-consumer-groups", "--describe", "--group", group))
        assert len(shown) == PARTITIONS
        for _, topic, partition, offset, _, of_tool, *_ in shown:
            assert lag[group, topic, partition] == float(of_tool)
            assert COMMITTED[group][int(partition)] == int(offset)


def test_the_lag_in_seconds_grows_until_the_group_has_caught_up(
    cluster: ClusterProcesses, metrics: MetricsPorts, admin: AdminClient
) -> None:
    key = ("reports", TOPIC, "0")
    first = exported(cluster, metrics, "ottla_group_lag_seconds")
    assert first.keys() == exported(cluster, metrics, "ottla_group_lag_records").keys()

    def has_grown() -> bool:
        return exported(cluster, metrics, "ottla_group_lag_seconds")[key] >= first[key] + 0.5

    wait_until(has_grown, "the lag grows with the time")
    commit(admin, "reports", [TopicPartition(TOPIC, 0, end_of(admin, 0))])
    assert exported(cluster, metrics, "ottla_group_lag_seconds")[key] == 0
    assert exported(cluster, metrics, "ottla_group_lag_records")[key] == 0
