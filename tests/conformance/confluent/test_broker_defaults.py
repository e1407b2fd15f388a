"""What a broker's own configs mean for the topics that say nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from ottla.model import ErrorCode
from ottla.wire.records.compression import Codec
from tests.conformance.clients import EARLIEST, Message, RefusedError
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode, running_node

SETTINGS = {
    "num.partitions": "3",
    "message.max.bytes": "50000",
    "log.message.timestamp.type": "LogAppendTime",
    "compression.type": "zstd",
}


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("configured"), settings=SETTINGS) as node:
        yield node


@pytest.fixture
def its_admin(configured: RunningNode) -> AdminClient:
    return AdminClient({"bootstrap.servers": configured.bootstrap, "log_level": 0})


@pytest.fixture
def client(configured: RunningNode) -> ConfluentClient:
    return ConfluentClient(configured.bootstrap)


def test_a_topic_that_makes_itself_has_the_default_partitions(
    its_admin: AdminClient, client: ConfluentClient
) -> None:
    client.produce("made-by-itself", [Message(b"first")])
    assert len(its_admin.list_topics("made-by-itself").topics["made-by-itself"].partitions) == 3
    its_admin.create_topics([NewTopic("by-default")])["by-default"].result()
    assert len(its_admin.list_topics("by-default").topics["by-default"].partitions) == 3


def test_records_are_kept_as_the_broker_says(
    its_admin: AdminClient, client: ConfluentClient, configured: RunningNode
) -> None:
    topic = "as-the-broker-says"
    client.produce(topic, [Message(b"old" * 100, partition=0, timestamp_ms=1_000)], codec="gzip")

    (record,) = client.consume({(topic, 0): EARLIEST}, 1)

    assert record.timestamp_type == "LogAppendTime"
    assert record.timestamp_ms > 1_000
    assert Topics(its_admin, configured, "").stored(topic)[0].codec is Codec.ZSTD


def test_a_topic_may_say_otherwise(its_admin: AdminClient, client: ConfluentClient) -> None:
    configs = {"message.timestamp.type": "CreateTime", "max.message.bytes": "100000"}
    its_admin.create_topics([NewTopic("otherwise", 1, config=configs)])["otherwise"].result()
    client.produce("otherwise", [Message(bytes(60_000), timestamp_ms=1_000)])
    (record,) = client.consume({("otherwise", 0): EARLIEST}, 1)
    assert (record.timestamp_type, record.timestamp_ms) == ("CreateTime", 1_000)


def test_a_limit_changes_while_the_broker_runs(
    its_admin: AdminClient, client: ConfluentClient
) -> None:
    # Compressed by the broker, it is not much smaller.
    big = Message(b"".join(b"%d" % (number**3) for number in range(4_000)), partition=0)
    client.produce("limited", [big])

    def alter(value: str | None, operation: AlterConfigOpType) -> None:
        change = ConfigEntry("message.max.bytes", value, incremental_operation=operation)
        broker = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[change])
        its_admin.incremental_alter_configs([broker])[broker].result()

    alter("10000", AlterConfigOpType.SET)
    with pytest.raises(RefusedError) as refused:
        client.produce("limited", [big])
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
    alter(None, AlterConfigOpType.DELETE)
    assert client.produce("limited", [big])[0].offset == 1
