"""Questions to another node: together, one of each transaction, and what becomes of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.transactions.transaction_verification import TransactionVerification
from ottla.broker.transactions.verification_requests import (
    Supported,
    TransactionalProducer,
    UnverifiedBatch,
    Verified,
)
from ottla.channels import ChannelError
from ottla.metrics.table import coordinators as table
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from tests.support.nodes.one_node import OneNode

OTHER_NODE = 2
NAME = TopicPartition("orders", 0)


class Elsewhere:
    """The node that coordinates all transactions; it answers when the test says so."""

    def __init__(self, node: OneNode, monkeypatch: pytest.MonkeyPatch) -> None:
        node.create_topic("orders")
        self.requests: list[AddPartitionsToTxnRequest] = []
        self.answers: list[asyncio.Future[AddPartitionsToTxnResponse]] = []
        self.results: list[tuple[str, Verified]] = []
        self._node = node
        monkeypatch.setattr(BrokerPeers, "send", self._send)
        monkeypatch.setattr(TransactionVerification, "_coordinator_of", lambda *_: OTHER_NODE)

    def verify(self, transactional_id: str, producer_id: int) -> None:
        partition = self._node.broker.partitions.by_name(*NAME)
        self._node.broker.verification.verify(
            TransactionalProducer(transactional_id, producer_id, 0),
            [UnverifiedBatch(partition, 0)],
            Supported.OLD_ERRORS,
            lambda verified: self.results.append((transactional_id, verified)),
        )

    def answer(self, number: int, code: ErrorCode = ErrorCode.NONE) -> None:
        partition = AddPartitionsToTxnPartitionResult(partition_index=0, partition_error_code=code)
        topic = AddPartitionsToTxnTopicResult(name="orders", results_by_partition=[partition])
        self.answers[number].set_result(
            AddPartitionsToTxnResponse(
                results_by_transaction=[
                    AddPartitionsToTxnResult(
                        transactional_id=each.transactional_id, topic_results=[topic]
                    )
                    for each in self.requests[number].transactions
                ]
            )
        )

    def ids(self, number: int) -> list[str]:
        return [each.transactional_id for each in self.requests[number].transactions]

    async def _send(
        self, node_id: int, lane: PeerLane, request: Any, version: int, *, timeout_ms: int
    ) -> Any:
        assert (node_id, lane, version) == (OTHER_NODE, PeerLane.VERIFICATION, 5)
        assert timeout_ms > 0
        self.requests.append(request)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.answers.append(answer)
        return await answer

    async def settle(self) -> None:
        """Until everything has happened that does not wait for an answer."""
        loop = asyncio.get_running_loop()
        for _ in range(5):
            done = loop.create_future()
            loop.call_soon(done.set_result, None)
            await done


@pytest.fixture
def elsewhere(node: OneNode, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    return Elsewhere(node, monkeypatch)


def test_requests_that_gather_meanwhile_are_sent_together(
    node: OneNode, elsewhere: Elsewhere
) -> None:
    async def run() -> None:
        elsewhere.verify("a", 1)
        await elsewhere.settle()
        for number, name in enumerate("bcb", 2):
            elsewhere.verify(name, number)
        await elsewhere.settle()
        assert len(elsewhere.requests) == 1

        elsewhere.answer(0)
        await elsewhere.settle()
        assert elsewhere.ids(1) == ["b", "c"]
        elsewhere.answer(1)
        await elsewhere.settle()
        # The second about the same transaction: its id distinguishes the answers.
        assert elsewhere.ids(2) == ["b"]
        elsewhere.answer(2)
        await elsewhere.settle()

    node.run(run())
    assert [name for name, _ in elsewhere.results] == ["a", "b", "c", "b"]
    for _, verified in elsewhere.results:
        assert not verified.errors
        assert list(verified.verifications) == [NAME]


def test_a_request_without_an_answer_is_repeated_by_the_client(
    node: OneNode, elsewhere: Elsewhere
) -> None:
    async def run() -> None:
        elsewhere.verify("a", 1)
        await elsewhere.settle()
        elsewhere.answers[0].set_exception(ChannelError("gone"))
        await elsewhere.settle()
        elsewhere.verify("a", 1)
        await elsewhere.settle()
        elsewhere.answer(1)
        await elsewhere.settle()

    node.run(run())
    (_, failed), (_, verified) = elsewhere.results
    assert failed.errors == {NAME: ErrorCode.NETWORK_EXCEPTION}
    assert not verified.errors
    metrics = node.broker.metrics
    assert metrics.counter(table.VERIFICATION_FAILURES).value == 1
    assert sum(metrics.histogram(table.VERIFICATION_SECONDS).counts) == 1


def test_an_answer_that_leaves_a_partition_out_verifies_nothing(
    node: OneNode, elsewhere: Elsewhere
) -> None:
    async def run() -> None:
        elsewhere.verify("a", 1)
        await elsewhere.settle()
        elsewhere.answers[0].set_result(AddPartitionsToTxnResponse())
        await elsewhere.settle()

    node.run(run())
    ((_, verified),) = elsewhere.results
    assert verified.errors == {NAME: ErrorCode.UNKNOWN_SERVER_ERROR}


def test_a_failing_write_does_not_fail_the_next_request(
    node: OneNode, elsewhere: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_verified: Verified) -> None:
        raise ValueError("a bug")

    async def run() -> None:
        partition = node.broker.partitions.by_name(*NAME)
        node.broker.verification.verify(
            TransactionalProducer("a", 1, 0),
            [UnverifiedBatch(partition, 0)],
            Supported.OLD_ERRORS,
            fail,
        )
        elsewhere.verify("b", 2)
        await elsewhere.settle()
        elsewhere.answer(0)
        await elsewhere.settle()

    node.run(run())
    assert [name for name, _ in elsewhere.results] == ["b"]
    assert "a bug" in caplog.text
