"""Topics that check schemas, on one node: what happens before and beside the check."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ottla.broker.validation import validations
from ottla.configs import topic_validation
from ottla.model import ErrorCode
from ottla.runtime.background import InlineBackground, WorkerCrashedError
from ottla.schemas import SchemaType
from ottla.schemas.framing import frame
from ottla.schemas.registered.records import SchemaWritten, encode_change
from ottla.schemas.registered.schema_version import RegisteredSchema, SchemaVersion
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.batches import batch_of
from tests.support.storage.held_background import settle

FULL = {"ottla.value.schema.validation": "full"}


def register(node: OneNode, subject: str, id_: int, text: str = '"long"') -> None:
    schema = RegisteredSchema(SchemaType.AVRO, text)
    version = SchemaVersion(subject, 1, id_, schema, schema.digest())
    record = encode_change(SchemaWritten(version))
    node.append("_schemas", batch_of(record.value, key=record.key))


def produce(node: OneNode, topic: str, *values: bytes) -> Any:
    data = PartitionProduceData(index=0, records=bytes(batch_of(*values)))
    request = ProduceRequest(
        acks=-1, timeout_ms=1_000, topic_data=[TopicProduceData(name=topic, partition_data=[data])]
    )

    async def answer() -> Any:
        answering = asyncio.ensure_future(node.answer(request, 9))
        await settle()
        while not answering.done():
            # Between two looks at the topic of schemas.
            node.clock.advance(0.05)
            await settle()
        return answering.result()

    return node.run(answer()).responses[0].partition_responses[0]


class CrashingBackground(InlineBackground):
    """The worker that parses what strangers wrote always crashes."""

    def compute_limited(self, function: Any, *arguments: Any) -> Any:  # type: ignore[override]
        del function, arguments
        raise WorkerCrashedError("it was ended by signal 24")


def create(node: OneNode, name: str) -> Any:
    configs = [CreatableTopicConfig(name=key, value=value) for key, value in FULL.items()]
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=configs)
    return node.send_request(CreateTopicsRequest(topics=[topic]), 7).topics[0]


def test_every_bad_record_is_listed(start_node: StartNode) -> None:
    node = start_node()
    node.create_topic("_schemas", configs={"cleanup.policy": "compact"})
    node.create_topic("orders", configs=FULL)
    register(node, "orders-value", 1)
    good = frame(1, b"\x0e")
    assert produce(node, "orders", good, good).error_code == 0
    refused = produce(node, "orders", good, b"bad", good, frame(1, b""))
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in refused.record_errors] == [1, 3]
    assert "2 records do not fit the schemas of orders: record 1: the value:" in (
        refused.error_message
    )
    assert node.log("orders").log_end_offset == 2


def test_a_batch_that_kills_the_worker_is_refused(start_node: StartNode) -> None:
    node = start_node(background=CrashingBackground())
    node.create_topic("_schemas", configs={"cleanup.policy": "compact"})
    node.create_topic("orders", configs=FULL)
    register(node, "orders-value", 1)
    refused = produce(node, "orders", frame(1, b"\x0e"))
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert "takes too much time or memory" in refused.error_message


def test_without_the_packages_the_config_cannot_be_set(
    start_node: StartNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = start_node()
    monkeypatch.setattr(topic_validation, "missing_packages", lambda: ["msgspec"])
    refused = create(node, "orders")
    assert refused.error_code == ErrorCode.INVALID_CONFIG
    assert "msgspec" in refused.error_message
    assert "pip install 'ottla[web]'" in refused.error_message


def test_a_broker_without_the_packages_refuses_records(
    start_node: StartNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = start_node()
    node.create_topic("orders", configs=FULL)
    monkeypatch.setattr(validations, "missing_packages", lambda: ["msgspec"])
    refused = produce(node, "orders", frame(1, b"\x0e"))
    assert refused.error_code == ErrorCode.INVALID_CONFIG
    assert "pip install 'ottla[web]'" in refused.error_message
    assert node.log("orders").log_end_offset == 0


def test_a_tenant_has_schemas_and_dead_letters_of_its_own(start_node: StartNode) -> None:
    node = start_node()
    tenant = AlterConfigsResource(
        resource_type=4, configs=[AlterableConfig(name="ottla.tenant.acme", value="")]
    )
    node.send_request(IncrementalAlterConfigsRequest(resources=[tenant]), 1)
    node.create_topic("_schemas", configs={"cleanup.policy": "compact"})
    node.create_topic("acme._schemas", configs={"cleanup.policy": "compact"})
    node.create_topic("acme.dlq.bad", configs={"errors.deadletterqueue.group.enable": "true"})
    checks = {**FULL, "ottla.schema.deadletterqueue.topic.name": "dlq.bad"}
    node.create_topic("acme.orders", configs=checks)
    node.create_topic("orders", configs=FULL)
    schema = RegisteredSchema(SchemaType.AVRO, '"long"')
    record = encode_change(SchemaWritten(SchemaVersion("orders-value", 1, 1, schema, b"")))
    node.append("acme._schemas", batch_of(record.value, key=record.key))
    good = frame(1, b"\x0e")
    assert produce(node, "acme.orders", good).error_code == 0
    # The other topic's schemas are those of the cluster, which has none.
    assert produce(node, "orders", good).error_code == ErrorCode.INVALID_RECORD
    assert produce(node, "acme.orders", b"bad").error_code == 0
    assert node.log("acme.dlq.bad").log_end_offset == 1
    assert node.log("acme.orders").log_end_offset == 2
