"""UnregisterBroker, version 0: removes the registration of a broker that will not return.

BROKER_ID_NOT_REGISTERED if there is no such registration.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.leadership import BrokerChange, leadership_records
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.wire.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from ottla.wire.stored.cluster_metadata.brokers import UnregisterBrokerRecord


def unregister_broker(
    image: MetadataImage, request: UnregisterBrokerRequest, context: Context
) -> OperationOutcome[UnregisterBrokerResponse]:
    broker_id = request.broker_id
    broker = image.brokers.get(broker_id)
    if broker is None:
        return OperationOutcome(
            [],
            UnregisterBrokerResponse(
                error_code=ErrorCode.BROKER_ID_NOT_REGISTERED,
                error_message=f"Broker ID {broker_id} is not currently registered",
            ),
        )
    moved = leadership_records(
        image,
        context,
        BrokerChange(removed=broker_id),
        lambda each: broker_id in each.isr or broker_id in each.eligible_leader_replicas,
    )
    gone = UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=broker.epoch)
    return OperationOutcome([*moved, gone], UnregisterBrokerResponse(error_message=None))
