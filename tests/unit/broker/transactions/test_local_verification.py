"""Questions about transactions to the coordinator on the same node."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.broker.transactions.verification_requests import (
    Supported,
    TransactionalProducer,
    UnverifiedBatch,
    Verified,
)
from ottla.model import ErrorCode, TopicPartition
from tests.support.nodes.one_node import OneNode, StartNode
from tests.unit.broker.handlers.test_transactions import (
    CONFIGS,
    ID,
    add,
    end,
    init,
    state,
    with_topics,
)

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    node = with_topics(start_node(configs=CONFIGS))
    init(node)
    return node


def verify(node: OneNode, supported: Supported, *, epoch: int = 0) -> dict[Any, ErrorCode]:
    results: list[Verified] = []

    async def run() -> None:
        batch = UnverifiedBatch(node.broker.partitions.by_name(*ORDERS), 0)
        producer = TransactionalProducer(ID, 0, epoch)
        node.broker.verification.verify(producer, [batch], supported, results.append)

    node.run(run())
    (verified,) = results
    assert list(verified.verifications) == [ORDERS]
    return dict(verified.errors)


@pytest.mark.parametrize("supported", list(Supported))
def test_partition_that_was_added_is_in_the_transaction(
    node: OneNode, supported: Supported
) -> None:
    add(node, ORDERS, version=3)
    assert verify(node, supported) == {}


@pytest.mark.parametrize(
    ("supported", "code"),
    [
        (Supported.OLD_ERRORS, ErrorCode.INVALID_TXN_STATE),
        (Supported.ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE),
    ],
)
def test_partition_that_was_not_added_is_refused(
    node: OneNode, supported: Supported, code: ErrorCode
) -> None:
    add(node, ("orders", 1), version=3)
    assert verify(node, supported) == {ORDERS: code}


def test_with_transaction_version_2_verification_adds_the_partition(node: OneNode) -> None:
    assert verify(node, Supported.ADDING) == {}
    assert state(node) == "Ongoing"


def test_producer_of_another_epoch_is_refused(node: OneNode) -> None:
    add(node, ORDERS, version=3)
    assert verify(node, Supported.OLD_ERRORS, epoch=1) == {ORDERS: ErrorCode.INVALID_PRODUCER_EPOCH}


def test_partition_of_the_last_transaction_is_not_in_the_next_one(node: OneNode) -> None:
    add(node, ORDERS, version=3)
    end(node)
    add(node, ("orders", 1), version=3)
    assert verify(node, Supported.ABORTABLE) == {ORDERS: ErrorCode.TRANSACTION_ABORTABLE}
