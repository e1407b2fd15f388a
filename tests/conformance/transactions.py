"""What tests of transactions have in common: a node of their own, and what is in a topic."""

from __future__ import annotations

from collections.abc import Iterator
from time import time  # noqa: TID251 - tests stand outside of the node

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.confluent.client import ConfluentClient
from tests.support.nodes.nodes import RunningNode, running_node
from tests.support.nodes.wire_connection import WireConnection
from tests.support.storage.batches import batch_of

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
}
UNVERIFIED = {**SETTINGS, "transaction.partition.verification.enable": "false"}
# The last one in which a client adds its partitions itself.
_PRODUCE_VERSION = 11


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("transactions"), settings=SETTINGS) as node:
        yield node


@pytest.fixture(scope="module")
def admin(node: RunningNode) -> AdminClient:
    return AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})


def values(
    bootstrap: str, topic: str, *, partitions: int = 1, read_committed: bool = True
) -> list[str]:
    """All that a consumer is given up to the end of the topic, sorted."""
    consumer = ConfluentClient(bootstrap).consumer(
        isolation_level="read_committed" if read_committed else "read_uncommitted",
        enable_partition_eof=True,
    )
    consumer.list_topics(topic, timeout=TIMEOUT_S)
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    found: list[str] = []
    ends: set[int | None] = set()
    while len(ends) < partitions:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None, f"no end of {topic}, and so far {found}"
        if message.error() is not None:
            ends.add(message.partition())
        else:
            value = message.value()
            assert isinstance(value, bytes)
            found.append(value.decode())
    consumer.close()
    return sorted(found)


def leave_hanging(bootstrap: str, topic: str, *, producer_id: int = 4_711) -> None:
    """Writes a record of a transaction that no coordinator knows of, an hour ago. The node must
    not verify transactions."""
    host, _, port = bootstrap.rpartition(":")
    batch = batch_of(
        b"hanging",
        timestamp=int(time() - 3_600) * 1_000,
        producer_id=producer_id,
        sequence=0,
        is_transactional=True,
    )
    request = ProduceRequest(
        transactional_id="lost",
        acks=-1,
        timeout_ms=10_000,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=0, records=batch)]
            )
        ],
    )
    with WireConnection((host, int(port))) as connection:
        response: ProduceResponse = connection.send_request(request, _PRODUCE_VERSION)
    assert response.responses[0].partition_responses[0].error_code == 0


__all__ = ["UNVERIFIED", "admin", "leave_hanging", "node", "values"]
