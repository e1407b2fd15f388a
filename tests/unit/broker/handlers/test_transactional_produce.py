from __future__ import annotations

import pytest

from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.coordinator.runtime.transactional import TransactionMarker
from ottla.model import ErrorCode
from ottla.storage.batches.leader_batch import Origin
from ottla.wire.apis import ApiKey
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.support.coordinator.transaction_coordinator import ScriptedCoordinator
from tests.support.nodes.one_node import LISTENER, OneNode, StartNode
from tests.support.storage.batches import batch_of

PRODUCER = 7
# As clients of TransactionV1 send it, with and without TRANSACTION_ABORTABLE, and of TransactionV2.
OLD, ABORTABLE, ADDING = 10, 11, 12


@pytest.fixture
def coordinator(node: OneNode) -> ScriptedCoordinator:
    node.create_topic("orders", partitions=2)
    return ScriptedCoordinator(node)


def batch(*, sequence: int = 0, epoch: int = 0, producer_id: int = PRODUCER) -> bytearray:
    return batch_of(
        b"v",
        producer_id=producer_id,
        producer_epoch=epoch,
        sequence=sequence,
        is_transactional=True,
    )


def request(*batches: bytearray, transactional_id: str | None = "copier") -> ProduceRequest:
    """A batch for each partition, from 0 on."""
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=1_000,
        topic_data=[
            TopicProduceData(
                name="orders",
                partition_data=[
                    PartitionProduceData(index=index, records=bytes(each))
                    for index, each in enumerate(batches)
                ],
            )
        ],
    )


def answers(response: ProduceResponse) -> list[PartitionProduceResponse]:
    return list(response.responses[0].partition_responses)


def send(node: OneNode, *batches: bytearray, version: int = OLD) -> list[PartitionProduceResponse]:
    return answers(node.send_request(request(*batches), version))


def errors(found: list[PartitionProduceResponse]) -> list[ErrorCode]:
    return [ErrorCode(each.error_code) for each in found]


def test_a_partition_is_verified_once_for_each_transaction(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    assert errors(send(node, batch(), batch())) == [ErrorCode.NONE] * 2
    assert errors(send(node, batch(sequence=1))) == [ErrorCode.NONE]

    (requested,) = coordinator.requested
    assert (requested.transactional_id, requested.producer_id, requested.producer_epoch) == (
        "copier",
        7,
        0,
    )
    assert [(topic.name, topic.partitions) for topic in requested.topics] == [("orders", [0, 1])]


@pytest.mark.parametrize(
    ("version", "verify_only"), [(OLD, True), (ABORTABLE, True), (ADDING, False)]
)
def test_with_transaction_version_2_the_coordinator_adds_the_partitions(
    node: OneNode, coordinator: ScriptedCoordinator, version: int, verify_only: bool
) -> None:
    send(node, batch(), version=version)

    assert coordinator.requested[0].verify_only is verify_only


@pytest.mark.parametrize(
    ("version", "said", "expected"),
    [
        (OLD, ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE),
        (ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE),
        (ADDING, ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE),
        (OLD, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ADDING, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH),
        (OLD, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_ENOUGH_REPLICAS),
        (OLD, ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ADDING, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_ENOUGH_REPLICAS),
        (OLD, ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_clients_receive_error_codes_of_their_version(
    node: OneNode,
    coordinator: ScriptedCoordinator,
    version: int,
    said: ErrorCode,
    expected: ErrorCode,
) -> None:
    coordinator.errors = [said]

    assert errors(send(node, batch(), version=version)) == [expected]
    assert node.log("orders").log_end_offset == 0


def test_nodes_that_do_not_trust_each_other_verify_nothing(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    coordinator.response_error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED

    assert errors(send(node, batch())) == [ErrorCode.INVALID_TXN_STATE]


def test_without_a_coordinator_clients_try_again(node: OneNode) -> None:
    node.create_topic("orders")

    assert errors(send(node, batch())) == [ErrorCode.NOT_ENOUGH_REPLICAS]


def begin(node: OneNode, sent: ProduceRequest, version: int) -> Pending:
    """What waits for an answer."""
    context = RequestContext(version, "test", "127.0.0.1", LISTENER)
    pending = node.broker.apis[ApiKey.PRODUCE].handler(context, sent)
    assert isinstance(pending, Pending)
    return pending


def answer(pending: Pending) -> PartitionProduceResponse:
    assert isinstance(pending.response, ProduceResponse)
    return answers(pending.response)[0]


def test_markers_on_their_way_are_waited_for_with_transaction_version_2(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    coordinator.errors = [ErrorCode.CONCURRENT_TRANSACTIONS] * 2

    pending = begin(node, request(batch()), ADDING)
    node.clock.advance(0.03)
    assert pending.response is None
    node.clock.advance(0.03)

    assert answer(pending).error_code == ErrorCode.NONE
    assert len(coordinator.requested) == 3


def test_but_not_for_long(node: OneNode, coordinator: ScriptedCoordinator) -> None:
    coordinator.errors = [ErrorCode.CONCURRENT_TRANSACTIONS] * 20

    pending = begin(node, request(batch()), ADDING)
    node.clock.advance(0.2)

    assert answer(pending).error_code == ErrorCode.CONCURRENT_TRANSACTIONS


def test_what_a_producer_sends_meanwhile_waits_behind(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    coordinator.is_held = True
    sent = [begin(node, request(batch(sequence=number)), OLD) for number in range(3)]
    other = begin(node, request(batch(producer_id=9)), OLD)
    assert len(coordinator.requested) == 2

    coordinator.release()

    assert errors([answer(each) for each in [*sent, other]]) == [ErrorCode.NONE] * 4
    assert [answer(each).base_offset for each in sent] == [0, 1, 2]


def test_a_marker_that_arrives_during_the_verification_leaves_nothing_open(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    coordinator.is_held = True
    pending = begin(node, request(batch()), OLD)
    marker = TransactionMarker(PRODUCER, 0, 0, is_committed=False)
    partition = node.broker.partitions.by_name("orders", 0)
    partition.append(marker.batch(now_ms=0), now_ms=0, origin=Origin.COORDINATOR)

    coordinator.release()

    assert answer(pending).error_code == ErrorCode.INVALID_TXN_STATE
    assert node.log("orders").last_stable_offset == 1


def test_a_request_has_one_producer(node: OneNode, coordinator: ScriptedCoordinator) -> None:
    found = send(node, batch(), batch(producer_id=9))

    assert errors(found) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2
    assert not coordinator.requested


def test_a_transaction_has_an_id(node: OneNode, coordinator: ScriptedCoordinator) -> None:
    found = answers(node.send_request(request(batch(), transactional_id=None), OLD))

    assert errors(found) == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED]
    assert not coordinator.requested


def test_a_fenced_producer_is_not_verified(node: OneNode, coordinator: ScriptedCoordinator) -> None:
    send(node, batch(epoch=3))

    assert errors(send(node, batch(epoch=2))) == [ErrorCode.INVALID_PRODUCER_EPOCH]
    assert len(coordinator.requested) == 1


def test_one_partition_that_is_refused_does_not_hold_up_the_other(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    send(node, batch())
    coordinator.errors = [ErrorCode.TRANSACTION_ABORTABLE]

    found = send(node, batch(sequence=1), batch())
    assert errors(found) == [ErrorCode.NONE, ErrorCode.INVALID_TXN_STATE]


def test_a_batch_that_cannot_be_read_is_refused_as_ever(
    node: OneNode, coordinator: ScriptedCoordinator
) -> None:
    assert errors(send(node, batch()[:40])) == [ErrorCode.INVALID_RECORD]
    assert not coordinator.requested


def test_verification_can_be_turned_off_for_version_1_only(start_node: StartNode) -> None:
    node = start_node(configs={"transaction.partition.verification.enable": "false"})
    node.create_topic("orders")
    coordinator = ScriptedCoordinator(node)

    assert errors(send(node, batch())) == [ErrorCode.NONE]
    assert not coordinator.requested
    assert errors(send(node, batch(producer_id=9), version=ADDING)) == [ErrorCode.NONE]
    assert len(coordinator.requested) == 1
