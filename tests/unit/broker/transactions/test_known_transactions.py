"""Batches of transactions that the node knows: they are appended without waiting."""

from __future__ import annotations

import pytest

from ottla.broker.network.handling import RequestContext
from ottla.broker.producing.transactional_produce import VerifiedProduce
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.messages.produce import ProduceRequest
from tests.support.nodes.one_node import LISTENER, OneNode, StartNode
from tests.unit.broker.handlers.test_transactional_produce import (
    ABORTABLE,
    ADDING,
    OLD,
    batch,
    request,
)
from tests.unit.broker.handlers.test_transactions import (
    CONFIGS,
    ID,
    add,
    end,
    init,
    with_topics,
)

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    node = with_topics(start_node(configs=CONFIGS))
    init(node)
    return node


def of(*batches: bytearray) -> ProduceRequest:
    return request(*batches, transactional_id=ID)


def verified(
    node: OneNode, sent: ProduceRequest | None = None, *, version: int = OLD
) -> VerifiedProduce | None:
    context = RequestContext(version, "", "", LISTENER)

    async def run() -> VerifiedProduce | None:
        return node.broker.transactional_produces.verified_at_once(
            context, sent or of(batch(producer_id=0))
        )

    return node.run(run())


@pytest.mark.parametrize("version", [OLD, ABORTABLE, ADDING])
def test_the_first_batch_of_a_partition_that_was_added_is_verified(
    node: OneNode, version: int
) -> None:
    add(node, ORDERS, version=3)
    found = verified(node, version=version)
    assert found is not None
    assert not found.error
    held = node.broker.partitions.by_name(*ORDERS).require_log().producers.state
    assert found.require(ORDERS) is held.start_verification(
        producer_id=0, producer_epoch=0, sequence=0, supports_epoch_bump=False, now_ms=0
    )


def test_batches_after_the_first_have_nothing_to_verify(node: OneNode) -> None:
    add(node, ORDERS, version=3)
    response = node.send_request(of(batch(producer_id=0)), OLD)
    assert response.responses[0].partition_responses[0].error_code == ErrorCode.NONE
    found = verified(node, of(batch(producer_id=0, sequence=1)))
    assert found is not None
    assert found.require(ORDERS) is None


def test_partition_that_was_not_added_is_verified(node: OneNode) -> None:
    assert verified(node) is None


def test_nor_is_a_transaction_known_that_is_over(node: OneNode) -> None:
    add(node, ORDERS, version=3)
    end(node)
    assert verified(node) is None


def test_nor_another_epoch_or_producer(node: OneNode) -> None:
    add(node, ORDERS, version=3)
    assert verified(node, of(batch(producer_id=0, epoch=1))) is None
    assert verified(node, of(batch(producer_id=1))) is None


def test_who_sends_meanwhile_waits_for_its_turn(node: OneNode) -> None:
    add(node, ORDERS, version=3)
    node.broker.transactional_produces.turns.begin(0, lambda: None)
    assert verified(node) is None
    node.broker.transactional_produces.turns.end(0)
    assert verified(node) is not None


def test_what_cannot_be_read_or_is_not_here_is_left_to_others(node: OneNode) -> None:
    add(node, ORDERS, version=3)
    broken = batch(producer_id=0)
    broken[16] = 9
    for sent in (of(broken), of(), of(batch(producer_id=0), batch(producer_id=0))):
        assert verified(node, sent) is None
    elsewhere = of(batch(producer_id=0))
    elsewhere.topic_data[0].name = "nowhere"
    assert verified(node, elsewhere) is None
