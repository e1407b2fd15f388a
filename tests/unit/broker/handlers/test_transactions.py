"""The APIs of transactions, through their bytes in every version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ottla.broker.coordinators.marker_appending import MarkerAppender
from ottla.broker.handlers.find_coordinator import CoordinatorType
from ottla.model import ErrorCode
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.wire.messages.describe_transactions import DescribeTransactionsRequest
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.storage.held_background import settle

ID = "transfers"
CONFIGS = {"transaction.state.log.num.partitions": "3", "offsets.topic.num.partitions": "2"}


@pytest.fixture
def node(start_node: StartNode) -> OneNode:
    return with_topics(start_node())


def with_topics(node: OneNode) -> OneNode:
    node.create_topic("orders", partitions=2)
    request = FindCoordinatorRequest(key_type=CoordinatorType.TRANSACTION, coordinator_keys=[ID])
    node.send_request(request, 6)
    return node


@pytest.fixture
def start_node(start_node: StartNode) -> StartNode:
    def start(**options: Any) -> OneNode:
        configs = {**CONFIGS, **options.pop("configs", {})}
        return start_node(configs=configs, **options)

    return start


def init(node: OneNode, *, version: int = 5, **fields: Any) -> Any:
    fields = {"transactional_id": ID, "transaction_timeout_ms": 60_000, **fields}
    return node.send_request(InitProducerIdRequest(**fields), version)


def add(
    node: OneNode, *partitions: tuple[str, int], producer_id: int = 0, epoch: int = 0, version: int
) -> list[int]:
    """What the response contains for each partition, in order."""
    topics = [AddPartitionsToTxnTopic(name=name, partitions=[index]) for name, index in partitions]
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ID,
        v3_and_below_producer_id=producer_id,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=topics,
    )
    results = node.send_request(request, version).results_by_topic_v3_and_below
    return [each.partition_error_code for topic in results for each in topic.results_by_partition]


def end(node: OneNode, *, epoch: int = 0, commits: bool = True, version: int = 4) -> Any:
    request = EndTxnRequest(
        transactional_id=ID, producer_id=0, producer_epoch=epoch, committed=commits
    )
    return node.send_request(request, version)


def state(node: OneNode) -> str:
    response = node.send_request(DescribeTransactionsRequest(transactional_ids=[ID]), 0)
    (found,) = response.transaction_states
    assert found.error_code == ErrorCode.NONE
    state_name: str = found.transaction_state
    return state_name


# ---- InitProducerId


@pytest.mark.parametrize("version", range(6))
def test_producers_follow_each_other(node: OneNode, version: int) -> None:
    first, second = init(node, version=version), init(node, version=version)
    assert (first.error_code, first.producer_id, first.producer_epoch) == (0, 0, 0)
    assert (second.error_code, second.producer_id, second.producer_epoch) == (0, 0, 1)


@pytest.mark.parametrize(
    ("version", "code"), [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED)]
)
def test_zombie_receives_an_error_code_of_its_version(
    node: OneNode, version: int, code: ErrorCode
) -> None:
    for _ in range(3):
        init(node)
    answer = init(node, version=version, producer_id=0, producer_epoch=0)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (code, -1, -1)


def test_who_takes_over_waits_for_the_abort_of_what_is_ongoing(node: OneNode) -> None:
    init(node)
    add(node, ("orders", 0), version=3)
    answer = init(node)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, 0, 2)
    assert node.log("orders").log_end_offset == 1


def test_versions_that_are_not_stable_are_served_only_if_enabled(start_node: StartNode) -> None:
    configs = {
        "unstable.api.versions.enable": "true",
        "transaction.two.phase.commit.enable": "true",
    }
    api = InitProducerIdRequest.api_key
    assert api is not None
    assert start_node().broker.apis[api].versions == range(6)
    node = with_topics(start_node(configs=configs))
    assert node.broker.apis[api].versions == range(7)
    answer = init(node, version=6, enable2_pc=True, transaction_timeout_ms=0)
    assert (answer.error_code, answer.producer_epoch) == (0, 0)
    assert (answer.ongoing_txn_producer_id, answer.ongoing_txn_producer_epoch) == (-1, -1)


# ---- AddPartitionsToTxn


@pytest.mark.parametrize("version", range(4))
def test_client_adds_partitions(node: OneNode, version: int) -> None:
    init(node)
    assert add(node, ("orders", 0), ("orders", 1), version=version) == [0, 0]
    assert state(node) == "Ongoing"


@pytest.mark.parametrize("version", range(4))
def test_one_partition_that_cannot_be_added_keeps_all_out(node: OneNode, version: int) -> None:
    init(node)
    results = add(node, ("orders", 0), ("__consumer_offsets", 0), ("orders", 2), version=version)
    assert results == [
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert state(node) == "Empty"


@pytest.mark.parametrize("version", [4, 5])
def test_of_internal_topics_brokers_add_committed_offsets_only(node: OneNode, version: int) -> None:
    init(node)
    node.send_request(FindCoordinatorRequest(coordinator_keys=["group"]), 6)

    def added(topic: str) -> int:
        requested = AddPartitionsToTxnTransaction(
            transactional_id=ID,
            producer_id=0,
            producer_epoch=0,
            topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0])],
        )
        response = node.send_request(AddPartitionsToTxnRequest(transactions=[requested]), version)
        (result,) = response.results_by_transaction[0].topic_results[0].results_by_partition
        code: int = result.partition_error_code
        return code

    assert added("__transaction_state") == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert state(node) == "Empty"
    assert added("__consumer_offsets") == ErrorCode.NONE


@pytest.mark.parametrize("version", range(4))
def test_fenced_client_receives_an_error_code_of_its_version(node: OneNode, version: int) -> None:
    init(node), init(node)
    code = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert add(node, ("orders", 0), version=version) == [code]
    assert end(node, version=version).error_code == code


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_verify_and_add_for_many_transactions(node: OneNode, version: int) -> None:
    init(node)
    add(node, ("orders", 0), version=0)

    def transaction(partition: int, *, verifies_only: bool, name: str = ID) -> Any:
        return AddPartitionsToTxnTransaction(
            transactional_id=name,
            verify_only=verifies_only,
            topics=[AddPartitionsToTxnTopic(name="orders", partitions=[partition])],
        )

    def results_of(*transactions: Any) -> list[tuple[str, int]]:
        response = node.send_request(
            AddPartitionsToTxnRequest(transactions=list(transactions)), version
        )
        assert response.error_code == ErrorCode.NONE
        return [
            (result.transactional_id, each.partition_error_code)
            for result in response.results_by_transaction
            for topic in result.topic_results
            for each in topic.results_by_partition
        ]

    unknown = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert results_of(
        transaction(0, verifies_only=True), transaction(0, verifies_only=True, name="nobody")
    ) == [(ID, 0), ("nobody", unknown)]
    abortable = ErrorCode.TRANSACTION_ABORTABLE
    assert results_of(transaction(1, verifies_only=True)) == [(ID, abortable)]
    assert results_of(transaction(1, verifies_only=False)) == [(ID, 0)]
    assert results_of(transaction(1, verifies_only=True)) == [(ID, 0)]
    assert results_of(transaction(0, verifies_only=False, name="")) == [
        ("", ErrorCode.INVALID_REQUEST)
    ]


# ---- AddOffsetsToTxn


@pytest.mark.parametrize("version", range(5))
def test_group_is_added_by_its_partition(node: OneNode, version: int) -> None:
    init(node)
    request = AddOffsetsToTxnRequest(transactional_id=ID, group_id="group")
    assert node.send_request(request, version).error_code == ErrorCode.NONE
    (found,) = node.send_request(
        DescribeTransactionsRequest(transactional_ids=[ID]), 0
    ).transaction_states
    assert [topic.topic for topic in found.topics] == ["__consumer_offsets"]


@pytest.mark.parametrize("version", range(5))
def test_group_of_a_fenced_producer_is_not_added(node: OneNode, version: int) -> None:
    init(node), init(node)
    request = AddOffsetsToTxnRequest(transactional_id=ID, group_id="group")
    code = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    assert node.send_request(request, version).error_code == code


# ---- EndTxn


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("commits", [True, False])
def test_older_clients_keep_their_epoch(node: OneNode, version: int, commits: bool) -> None:
    init(node)
    for _ in range(2):
        add(node, ("orders", 0), version=min(version, 3))
        assert end(node, commits=commits, version=version).error_code == ErrorCode.NONE
        assert state(node) == ("CompleteCommit" if commits else "CompleteAbort")


def test_clients_of_transaction_v2_are_given_the_next_epoch(node: OneNode) -> None:
    init(node)
    for epoch in range(3):
        assert add(node, ("orders", 0), epoch=epoch, version=3) == [0]
        answer = end(node, epoch=epoch, version=5)
        assert (answer.error_code, answer.producer_id) == (0, 0)
        assert answer.producer_epoch == epoch + 1
    assert end(node, epoch=0, version=5).error_code == ErrorCode.PRODUCER_FENCED


def test_markers_are_in_the_partitions(node: OneNode) -> None:
    init(node)
    add(node, ("orders", 0), ("orders", 1), version=3)
    end(node, version=5)
    assert [node.log("orders", index).log_end_offset for index in (0, 1)] == [1, 1]


@pytest.mark.parametrize(
    "request_",
    [
        EndTxnRequest(),
        AddOffsetsToTxnRequest(group_id="group"),
        InitProducerIdRequest(transactional_id=""),
    ],
)
def test_request_without_a_transactional_id_is_refused(node: OneNode, request_: Any) -> None:
    assert node.send_request(request_, 3).error_code == ErrorCode.INVALID_REQUEST


def test_transaction_outlives_its_node(start_node: StartNode) -> None:
    node = with_topics(start_node())
    init(node)
    add(node, ("orders", 0), version=3)
    node = start_node(disk=node.crash())
    assert state(node) == "Ongoing"
    assert end(node, version=4).error_code == ErrorCode.NONE
    assert state(node) == "CompleteCommit"


# ---- ListTransactions and DescribeTransactions


@pytest.mark.parametrize("version", range(3))
def test_transactions_of_all_partitions_are_listed(node: OneNode, version: int) -> None:
    for name in ("one", "two", "three", ID):
        init(node, transactional_id=name)
    response = node.send_request(ListTransactionsRequest(), version)
    found = sorted(each.transactional_id for each in response.transaction_states)
    assert found == ["one", "three", ID, "two"]
    assert {each.transaction_state for each in response.transaction_states} == {"Empty"}


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"state_filters": ["Ongoing"]}, 1),
        ({"state_filters": ["Empty", "Sleeping"]}, 1),
        ({"state_filters": ["Sleeping"]}, 0),
        ({"producer_id_filters": [1]}, 1),
        ({"duration_filter": 3_600_000}, 1),
        ({"transactional_id_pattern": "tran.*"}, 1),
        ({"transactional_id_pattern": "tran"}, 0),
        ({"transactional_id_pattern": ""}, 2),
    ],
)
def test_lists_are_filtered(node: OneNode, fields: dict[str, Any], count: int) -> None:
    init(node)
    init(node, transactional_id="other")
    add(node, ("orders", 0), version=3)
    response = node.send_request(ListTransactionsRequest(**fields), 2)
    assert response.error_code == ErrorCode.NONE
    assert len(response.transaction_states) == count
    unknown = [name for name in fields.get("state_filters", ()) if name == "Sleeping"]
    assert response.unknown_state_filters == unknown


def test_expression_that_is_none_is_refused(node: OneNode) -> None:
    response = node.send_request(ListTransactionsRequest(transactional_id_pattern="("), 2)
    assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_ids_that_cannot_be_described_say_why(node: OneNode) -> None:
    response = node.send_request(DescribeTransactionsRequest(transactional_ids=["", "nobody"]), 0)
    assert [each.error_code for each in response.transaction_states] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
    ]


# ---- a moment too early


def test_next_transaction_waits_for_the_markers_of_the_last(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold_markers(monkeypatch)
    init(node)
    add(node, ("orders", 0), version=3)
    end(node, version=5)
    assert state(node) == "PrepareCommit"

    async def begin_the_next() -> Any:
        waiting = asyncio.ensure_future(node.answer(adding(epoch=1), 3))
        await settle()
        assert not waiting.done()
        held.pop()()
        node.clock.advance(0)
        return await waiting

    response = node.run(begin_the_next())
    assert first_code(response) == ErrorCode.NONE
    assert state(node) == "Ongoing"


def test_request_that_waited_long_enough_receives_a_retriable_error(
    node: OneNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_markers(monkeypatch)
    init(node)
    add(node, ("orders", 0), version=3)
    end(node, version=5)

    async def begin_the_next() -> Any:
        waiting = asyncio.ensure_future(node.answer(adding(epoch=1), 3))
        await settle()
        node.clock.advance(0.3)
        return await waiting

    response = node.run(begin_the_next())
    assert first_code(response) == ErrorCode.CONCURRENT_TRANSACTIONS


def adding(*, epoch: int) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=ID,
        v3_and_below_producer_id=0,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="orders", partitions=[0])],
    )


def first_code(response: Any) -> ErrorCode:
    (topic,) = response.results_by_topic_v3_and_below
    return ErrorCode(topic.results_by_partition[0].partition_error_code)


def hold_markers(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Has markers wait until the test lets them go."""
    held: list[Callable[[], None]] = []
    append = MarkerAppender.append

    def hold(*arguments: Any, **named: Any) -> None:
        held.append(lambda: append(*arguments, **named))

    monkeypatch.setattr(MarkerAppender, "append", hold)
    return held


# ---- between the requests of a transaction


class RecordedBusyPoll:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def begin(self) -> None:
        self.notes.append("begin")

    def end(self) -> None:
        self.notes.append("end")


def test_the_next_request_is_looked_out_for_until_the_end(node: OneNode) -> None:
    init(node)
    node.broker.busy_poll = busy_poll = RecordedBusyPoll()
    add(node, ("orders", 0), version=3)
    add(node, ("orders", 1), version=3)
    end(node)
    assert busy_poll.notes == ["end", "begin", "end", "begin", "end"]
