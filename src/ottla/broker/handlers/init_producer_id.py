"""InitProducerId, versions 0 to 5: an id for an idempotent producer.

Who has no transactional id always gets a new producer id, also if it names the one that it had.
Errors: INVALID_REQUEST where the request contradicts itself, COORDINATOR_NOT_AVAILABLE for a
transactional id, as nothing coordinates transactions yet, and what the controller answers if it has
no ids to give.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ErrorCode, KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


@handles(ApiKey.INIT_PRODUCER_ID)
def init_producer_id(
    broker: Broker,
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: InitProducerIdRequest,
) -> InitProducerIdResponse | Awaitable[InitProducerIdResponse]:
    has_id = request.producer_id != NO_PRODUCER_ID
    has_epoch = request.producer_epoch != NO_PRODUCER_EPOCH
    if has_id != has_epoch or request.transactional_id == "":
        return _refuse(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        return _refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    producer_id = broker.producer_ids.take_nowait()
    if producer_id is None:
        return _wait_for_id(broker)
    return InitProducerIdResponse(producer_id=producer_id)


async def _wait_for_id(broker: Broker) -> InitProducerIdResponse:
    try:
        return InitProducerIdResponse(producer_id=await broker.producer_ids.take())
    except KafkaError as error:
        return _refuse(error.code)


def _refuse(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_epoch=NO_PRODUCER_EPOCH)
