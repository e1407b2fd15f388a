"""Topics, configs and the cluster through kafka-python's admin client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from ottla.wire.apis import ApiKey
from tests.conformance.clients import Message
from tests.conformance.kafka_python.client import (
    AlterConfigOp,
    ConfigResource,
    KafkaPythonClient,
    OffsetSpec,
    TopicPartition,
    errors,
)
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode


@pytest.fixture
def client(node: RunningNode) -> KafkaPythonClient:
    return KafkaPythonClient(node.bootstrap)


@pytest.fixture
def admin_client(client: KafkaPythonClient) -> Iterator[Any]:
    with client.admin() as admin:
        yield admin


def described(admin_client: Any, topic: str) -> Any:
    (found,) = admin_client.describe_topics([topic])
    return found


def test_topics_are_created_listed_described_and_deleted(admin_client: Any, topics: Topics) -> None:
    topic = topics.name()
    admin_client.create_topics(
        {topic: {"num_partitions": 2, "configs": {"retention.ms": "1234"}}}, wait_for_metadata=True
    )

    assert topic in admin_client.list_topics()
    found = described(admin_client, topic)
    assert [each["partition_index"] for each in found["partitions"]] == [0, 1]
    assert {each["leader_id"] for each in found["partitions"]} == {1}
    (by_id,) = admin_client.describe_topics([UUID(found["topic_id"])])
    assert by_id["name"] == topic
    admin_client.delete_topics([topic])

    assert topic not in admin_client.list_topics()


def test_a_topic_is_deleted_by_its_id(admin_client: Any, topics: Topics) -> None:
    topic = topics.create()
    admin_client.delete_topics([UUID(described(admin_client, topic)["topic_id"])])
    assert topic not in admin_client.list_topics()


def test_replicas_are_placed_by_hand(admin_client: Any, topics: Topics) -> None:
    topic = topics.name()
    admin_client.create_topics({topic: {"assignments": {0: [1], 1: [1]}}})
    assert len(described(admin_client, topic)["partitions"]) == 2
    admin_client.create_partitions({topic: {"count": 3, "assignments": [[1]]}})
    assert len(described(admin_client, topic)["partitions"]) == 3


def test_wrong_topics_are_refused(admin_client: Any, topics: Topics) -> None:
    topic = topics.create(partitions=2)
    with pytest.raises(errors.TopicAlreadyExistsError):
        admin_client.create_topics([topic])
    with pytest.raises(errors.InvalidPartitionsError):
        admin_client.create_partitions({topic: 1})
    with pytest.raises(errors.UnknownTopicOrPartitionError):
        admin_client.delete_topics(["nowhere-at-all"])
    with pytest.raises(errors.InvalidReplicationFactorError):
        admin_client.create_topics({topics.name(): {"replication_factor": 3}})
    with pytest.raises(errors.InvalidReplicationAssignmentError):
        admin_client.create_topics({topics.name(): {"assignments": {0: [7]}}})


def test_partitions_are_described_page_by_page(admin_client: Any, topics: Topics) -> None:
    names = sorted(topics.create(partitions=2) for _ in range(2))
    seen = []
    cursor = None
    for _ in range(2):
        page = admin_client.describe_topic_partitions(
            names, response_partition_limit=3, cursor=cursor
        )
        seen += [
            (topic["name"], partition["partition_index"])
            for topic in page["topics"]
            for partition in topic["partitions"]
        ]
        cursor = page["next_cursor"]
    assert cursor is None
    assert seen == [(name, partition) for name in names for partition in (0, 1)]


def test_configs_are_described_and_changed(admin_client: Any, topics: Topics) -> None:
    topic = topics.create()

    def modified() -> dict[str, str]:
        answer = admin_client.describe_configs([ConfigResource("topic", topic)])
        return {name: config["value"] for name, config in answer["topic"][topic].items()}

    def alter(**changes: Any) -> None:
        configs = {name.replace("_", "."): value for name, value in changes.items()}
        admin_client.alter_configs([ConfigResource("topic", topic, configs)])

    assert modified() == {}
    alter(retention_ms="1234", cleanup_policy=(AlterConfigOp.APPEND, "compact"))
    assert modified() == {"retention.ms": "1234", "cleanup.policy": "delete,compact"}
    alter(cleanup_policy=(AlterConfigOp.SUBTRACT, "delete"))
    assert modified() == {"retention.ms": "1234", "cleanup.policy": "compact"}
    admin_client.reset_configs([ConfigResource("topic", topic, ["cleanup.policy"])])
    assert modified() == {"retention.ms": "1234"}
    # All of them at once, in the way from before Kafka 2.3.
    whole = ConfigResource("topic", topic, {"segment.ms": "5000"})
    admin_client.alter_configs([whole], incremental=False)
    assert modified() == {"retention.ms": "1234", "segment.ms": "5000"}


def test_all_configs_of_the_broker_are_described(admin_client: Any) -> None:
    answer = admin_client.describe_configs(
        [ConfigResource("broker", "1")], include_synonyms=True, config_filter="all"
    )
    configs = answer["broker"]["1"]
    assert len(configs) > 200
    assert configs["node.id"]["read_only"]
    assert configs["log.segment.bytes"]["config_type"] == "INT"
    # On this machine it is a static config, by another name.
    assert configs["log.dirs"]["config_source"] == "STATIC_BROKER_CONFIG"


def test_offsets_are_listed_by_what_they_stand_for(
    admin_client: Any, client: KafkaPythonClient, topics: Topics
) -> None:
    topic = topics.create()
    for timestamp_ms in (1_000, 3_000, 2_000):
        client.produce(topic, [Message(b"then", timestamp_ms=timestamp_ms)])
    partition = TopicPartition(topic, 0)

    def listed(spec: Any) -> Any:
        return admin_client.list_partition_offsets({partition: spec})[partition]

    assert listed(OffsetSpec.EARLIEST).offset == 0
    assert listed(OffsetSpec.LATEST).offset == 3
    assert listed(OffsetSpec.EARLIEST_LOCAL).offset == 0
    newest = listed(OffsetSpec.MAX_TIMESTAMP)
    assert (newest.offset, newest.timestamp) == (1, 3_000)
    assert listed(1_001).offset == 1


def test_records_are_deleted(admin_client: Any, client: KafkaPythonClient, topics: Topics) -> None:
    topic = topics.create()
    client.produce(topic, [Message(b"%d" % number) for number in range(5)])
    partition = TopicPartition(topic, 0)

    assert admin_client.delete_records({partition: 3})[partition]["low_watermark"] == 3
    assert admin_client.delete_records({partition: -1})[partition]["low_watermark"] == 5
    with pytest.raises(errors.OffsetOutOfRangeError):
        admin_client.delete_records({partition: 6})


def test_log_directories_list_what_they_hold(
    admin_client: Any, client: KafkaPythonClient, topics: Topics, node: RunningNode
) -> None:
    topic = topics.create()
    client.produce(topic, [Message(bytes(1_000))])

    (broker,) = admin_client.describe_log_dirs([topic])
    (directory,) = broker["log_dirs"]

    assert directory["log_dir"] == str(node.data_directory)
    assert directory["total_bytes"] > directory["usable_bytes"] > 0
    (found,) = directory["topics"]
    (partition,) = found["partitions"]
    assert partition["partition_size"] > 1_000
    assert partition["offset_lag"] == 0


def test_a_replica_is_assigned_only_to_a_known_directory(
    admin_client: Any, topics: Topics, node: RunningNode
) -> None:
    replica = (topics.create(), 0, 1)
    moved = admin_client.alter_replica_log_dirs({replica: str(node.data_directory)})
    assert set(moved.values()) == {errors.NoError}
    refused = admin_client.alter_replica_log_dirs({replica: "/nowhere"})
    assert {error.__name__ for error in refused.values()} == {"LogDirNotFoundError"}


def test_producers_of_a_partition_are_described(
    admin_client: Any, client: KafkaPythonClient, topics: Topics
) -> None:
    topic = topics.create()
    client.produce(topic, [Message(b"a"), Message(b"b")], is_idempotent=True)
    partition = TopicPartition(topic, 0)

    (producer,) = admin_client.describe_producers([partition])[partition].active_producers

    assert producer.producer_id == topics.stored(topic)[0].producer_id
    assert producer.last_sequence == 1


def test_the_cluster_describes_itself(admin_client: Any, node: RunningNode) -> None:
    cluster = admin_client.describe_cluster()
    host, port = node.bootstrap.split(":")
    (broker,) = cluster["brokers"]
    assert (broker["broker_id"], broker["host"], broker["port"]) == (1, host, int(port))
    features = admin_client.describe_features()
    assert features["metadata.version"]["finalized"][1] > 0
    assert ApiKey.FETCH in {int(key) for key in admin_client.api_versions()}


def test_config_resources_are_listed(admin_client: Any, topics: Topics) -> None:
    topic = topics.create()
    listed = admin_client.list_config_resources(["TOPIC", "BROKER"])
    assert topic in listed["topic"]
    assert listed["broker"] == ["1"]
