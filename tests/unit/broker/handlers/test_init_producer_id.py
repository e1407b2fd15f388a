from __future__ import annotations

import asyncio

import pytest

from ottla.model import ErrorCode
from ottla.simulation import Operation
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.wire.schema import Message
from tests.support.nodes.one_node import OneNode, StartNode

IDEMPOTENT = InitProducerIdRequest(transactional_id=None)


@pytest.mark.parametrize("version", range(6))
def test_every_producer_gets_an_id_of_its_own(node: OneNode, version: int) -> None:
    first: InitProducerIdResponse = node.send_request(IDEMPOTENT, version)
    second: InitProducerIdResponse = node.send_request(IDEMPOTENT, version)

    assert (first.error_code, first.producer_id, first.producer_epoch) == (ErrorCode.NONE, 0, 0)
    assert second.producer_id == 1


def test_after_the_first_producer_id_no_request_waits(node: OneNode) -> None:
    async def take_many() -> list[int]:
        ids = [(await node.answer(IDEMPOTENT, 5)).producer_id]
        for _ in range(2_500):
            handler = node.broker.apis[InitProducerIdRequest.api_key or 0].handler
            answer = handler(node.context(5), IDEMPOTENT)
            assert isinstance(answer, InitProducerIdResponse), "it had to wait"
            ids.append(answer.producer_id)
            await _give_way()
        return ids

    assert node.run(take_many()) == list(range(2_501))


async def _give_way() -> None:
    """Lets the node do what it has to do, as it can between two requests."""
    for _ in range(3):
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, None)
        await future


def test_ids_are_not_given_out_again_after_a_restart(start_node: StartNode) -> None:
    node = start_node()
    before = node.send_request(IDEMPOTENT, 5).producer_id
    node = start_node(node.crash())

    after = node.send_request(IDEMPOTENT, 5).producer_id

    assert (before, after) == (0, 1_000)


def test_a_producer_that_names_its_id_gets_a_new_one(node: OneNode) -> None:
    request = InitProducerIdRequest(transactional_id=None, producer_id=7, producer_epoch=3)

    response: InitProducerIdResponse = node.send_request(request, 5)

    assert (response.producer_id, response.producer_epoch) == (0, 0)


@pytest.mark.parametrize(
    "request_",
    [
        InitProducerIdRequest(transactional_id=None, producer_id=7),
        InitProducerIdRequest(transactional_id=None, producer_epoch=7),
        InitProducerIdRequest(transactional_id=""),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(node: OneNode, request_: Message) -> None:
    response: InitProducerIdResponse = node.send_request(request_, 5)

    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert (response.producer_id, response.producer_epoch) == (-1, -1)


def test_who_does_not_coordinate_says_so(node: OneNode) -> None:
    response = node.send_request(InitProducerIdRequest(transactional_id="orders"), 5)

    assert response.error_code == ErrorCode.NOT_COORDINATOR


def test_a_controller_that_cannot_write_gives_no_ids(node: OneNode) -> None:
    node.disk.faults.fail("/data/__cluster_metadata-0", Operation.WRITE)

    assert node.send_request(IDEMPOTENT, 5).error_code == ErrorCode.KAFKA_STORAGE_ERROR
