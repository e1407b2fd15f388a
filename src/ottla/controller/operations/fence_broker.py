"""Fences a broker that cannot request it itself: it died, or sent no heartbeat for too long.

The request is the heartbeat that the broker would have sent; only its id and epoch are used.
STALE_BROKER_EPOCH, without any change, if the broker has registered again in the meantime.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.broker_epochs import current_broker
from ottla.controller.operations.leadership import BrokerChange, leadership_records
from ottla.metadata import BrokerRegistration, MetadataImage
from ottla.model import KafkaError
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import BrokerRegistrationChangeRecord

_ON = 1


def fence_broker(
    image: MetadataImage, request: BrokerHeartbeatRequest, context: Context
) -> OperationOutcome[BrokerHeartbeatResponse]:
    try:
        broker = current_broker(image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return OperationOutcome([], BrokerHeartbeatResponse(error_code=error.code))
    records = [] if broker.fenced else fencing_records(image, broker, context)
    return OperationOutcome(records, BrokerHeartbeatResponse(is_fenced=True))


def fencing_records(
    image: MetadataImage, broker: BrokerRegistration, context: Context
) -> list[Message]:
    """Removes the broker from the ISR of every partition, then fences it."""
    moved = leadership_records(
        image, context, BrokerChange(removed=broker.id), lambda each: broker.id in each.isr
    )
    change = BrokerRegistrationChangeRecord(
        broker_id=broker.id, broker_epoch=broker.epoch, fenced=_ON
    )
    return [*moved, change]
