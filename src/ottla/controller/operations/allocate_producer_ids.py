"""AllocateProducerIds, version 0: assigns the next thousand producer ids to a broker (KIP-730).

STALE_BROKER_EPOCH if the broker has registered again in the meantime.
"""

from __future__ import annotations

from typing import Final

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.broker_epochs import current_broker
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from ottla.wire.stored.cluster_metadata.producer_ids import ProducerIdsRecord

BLOCK_SIZE: Final = 1000

_PRODUCER_ID_MAX: Final = 2**63 - 1


def allocate_producer_ids(
    image: MetadataImage, request: AllocateProducerIdsRequest, _context: Context
) -> OperationOutcome[AllocateProducerIdsResponse]:
    try:
        current_broker(image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return OperationOutcome([], AllocateProducerIdsResponse(error_code=error.code))
    first = image.next_producer_id
    if first > _PRODUCER_ID_MAX - BLOCK_SIZE:
        return OperationOutcome(
            [], AllocateProducerIdsResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
        )
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=first + BLOCK_SIZE,
    )
    return OperationOutcome(
        [record], AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=BLOCK_SIZE)
    )
