"""The tools that ask what the cluster is and can do."""

from __future__ import annotations

import re

import pytest

from ottla.wire.apis import ApiKey
from tests.conformance.clients import Client, Message
from tests.conformance.java_tools.client import Java
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

pytestmark = pytest.mark.java

PACKAGE = "org.apache.kafka.tools"
# What a client without groups and transactions needs.
SERVED = {
    ApiKey.PRODUCE: "0 to 13",
    ApiKey.FETCH: "4 to 18",
    ApiKey.LIST_OFFSETS: "1 to 11",
    ApiKey.METADATA: "0 to 13",
    ApiKey.FIND_COORDINATOR: "0 to 6",
    ApiKey.API_VERSIONS: "0 to 4",
    ApiKey.CREATE_TOPICS: "2 to 7",
    ApiKey.DELETE_TOPICS: "1 to 6",
    ApiKey.DELETE_RECORDS: "0 to 2",
    ApiKey.INIT_PRODUCER_ID: "0 to 5",
    ApiKey.OFFSET_FOR_LEADER_EPOCH: "2 to 4",
    ApiKey.DESCRIBE_CONFIGS: "1 to 4",
    ApiKey.ALTER_CONFIGS: "0 to 2",
    ApiKey.ALTER_REPLICA_LOG_DIRS: "1 to 2",
    ApiKey.DESCRIBE_LOG_DIRS: "1 to 5",
    ApiKey.CREATE_PARTITIONS: "0 to 3",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "0 to 1",
    ApiKey.UPDATE_FEATURES: "0 to 2",
    ApiKey.DESCRIBE_CLUSTER: "0 to 2",
    ApiKey.DESCRIBE_PRODUCERS: "0",
    ApiKey.LIST_CONFIG_RESOURCES: "0 to 1",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "0",
}


def test_versions_are_those_of_kafka(java: Java, node: RunningNode) -> None:
    ran = java.run(f"{PACKAGE}.BrokerApiVersionsCommand", "--bootstrap-server", node.bootstrap)

    assert ran.status == 0, ran.stderr
    assert ran.stdout.startswith(f"{node.bootstrap} (id: 1 rack: null isFenced: false) -> (")
    output = re.findall(r"^\t\w+\((\d+)\): (.+) \[usable", ran.stdout, re.MULTILINE)
    versions = {int(key): served for key, served in output}
    assert {key: versions[key] for key in SERVED} == SERVED


def test_features_are_those_of_kafka(java: Java, node: RunningNode) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        ran = java.run(
            f"{PACKAGE}.FeatureCommand", "--bootstrap-server", node.bootstrap, *arguments
        )
        return ran.status, ran.stdout

    status, described = run("describe")
    assert status == 0
    found = re.findall(r"Feature: (\S+) .* FinalizedVersionLevel: (\S+)\s", described)
    assert dict(found)["metadata.version"] == "4.3-IV0"
    assert run("upgrade", "--feature", "group.version=1", "--dry-run") == (
        0,
        "group.version can be upgraded to 1.\n",
    )
    status, refused = run("downgrade", "--feature", "metadata.version=7", "--dry-run")
    assert status == 1
    assert "Can not downgrade metadata.version to 7" in refused


def test_the_cluster_has_an_id_and_endpoints(java: Java, node: RunningNode) -> None:
    tool, where = f"{PACKAGE}.ClusterTool", ("--bootstrap-server", node.bootstrap)
    assert re.fullmatch(r"Cluster ID: \S{22}\n", java.run(tool, "cluster-id", *where).stdout)
    endpoints = java.run(tool, "list-endpoints", *where).stdout.splitlines()
    host, port = node.bootstrap.split(":")
    assert endpoints[1].split() == ["1", host, port, "null", "unfenced", "broker"]


def test_producers_of_a_partition_are_described(
    java: Java, node: RunningNode, topics: Topics, writer: Client
) -> None:
    topic = topics.create()
    writer.produce(topic, [Message(b"a"), Message(b"b")], is_idempotent=True)
    ran = java.run(
        f"{PACKAGE}.TransactionsCommand",
        *("--bootstrap-server", node.bootstrap, "describe-producers"),
        *("--topic", topic, "--partition", "0"),
    )
    _, producer = ran.stdout.splitlines()
    producer_id, epoch, _, last_sequence, _, _ = producer.split()
    assert (int(producer_id), epoch) == (topics.stored(topic)[0].producer_id, "0")
    assert last_sequence == "1"
