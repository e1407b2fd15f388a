"""BrokerHeartbeat, versions 0 to 2: a broker requests to serve, to be fenced, or to shut down.

    fenced ──caught up──▶ serving ──wants to shut down──▶ in controlled shutdown
      ▲                      │                                      │
      └──wants to be fenced──┘        fenced, may stop ◀──leads no partition

A broker whose last directory has failed is fenced until it registers as another incarnation.
STALE_BROKER_EPOCH if the broker has registered again in the meantime.
"""

from __future__ import annotations

from enum import Enum, auto

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.broker_epochs import current_broker
from ottla.controller.operations.fence_broker import fencing_records
from ottla.controller.operations.leadership import BrokerChange, leadership_records
from ottla.metadata import NO_LEADER, BrokerRegistration, MetadataImage, PartitionRegistration
from ottla.model import KafkaError, Uuid
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import BrokerRegistrationChangeRecord

_ON, _OFF = 1, -1


class _State(Enum):
    FENCED = auto()
    SERVING = auto()
    CONTROLLED_SHUTDOWN = auto()
    SHUTDOWN_NOW = auto()


def heartbeat(
    image: MetadataImage,
    request: BrokerHeartbeatRequest,
    context: Context,
    *,
    others_know: bool = True,
) -> OperationOutcome[BrokerHeartbeatResponse]:
    """`others_know`: whether the remaining brokers have replicated that this one is shutting down
    (from `BrokerSessions`). Before that they may still expect leaders on it, so it must not
    stop."""
    try:
        broker = current_broker(image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return OperationOutcome([], BrokerHeartbeatResponse(error_code=error.code))
    # The broker epoch is the offset of the batch with the registration.
    is_caught_up = request.current_metadata_offset >= broker.epoch
    state = _next_state(image, broker, request, is_caught_up=is_caught_up, others_know=others_know)
    records = _records(image, broker, state, context) if state is not _state(broker) else []
    records += _directories_offline(image, broker, request.offline_log_dirs, context)
    records += _directories_cordoned(broker, request.cordoned_log_dirs)
    response = BrokerHeartbeatResponse(
        is_caught_up=is_caught_up,
        is_fenced=state in (_State.FENCED, _State.SHUTDOWN_NOW),
        should_shut_down=state is _State.SHUTDOWN_NOW,
    )
    return OperationOutcome(records, response)


def _state(broker: BrokerRegistration) -> _State:
    if broker.fenced:
        return _State.FENCED
    return _State.CONTROLLED_SHUTDOWN if broker.in_controlled_shutdown else _State.SERVING


def _next_state(
    image: MetadataImage,
    broker: BrokerRegistration,
    request: BrokerHeartbeatRequest,
    *,
    is_caught_up: bool,
    others_know: bool,
) -> _State:
    state = _state(broker)
    if state is _State.FENCED:
        if request.want_shut_down:
            return _State.SHUTDOWN_NOW
        # A broker that began to shut down serves again only as another incarnation. A broker that
        # has just lost a directory must not be elected for the partitions in it.
        has_lost = not set(broker.log_dirs).isdisjoint(request.offline_log_dirs)
        can_serve = is_caught_up and not broker.in_controlled_shutdown and not has_lost
        return _State.SERVING if can_serve and not request.want_fence else state
    if broker.log_dirs and not _directories_left(broker, request.offline_log_dirs):
        return _State.SHUTDOWN_NOW if request.want_shut_down else _State.FENCED
    if state is _State.SERVING and request.want_fence:
        return _State.SHUTDOWN_NOW if request.want_shut_down else _State.FENCED
    if state is _State.CONTROLLED_SHUTDOWN and not others_know:
        return state
    if state is _State.CONTROLLED_SHUTDOWN or request.want_shut_down:
        return _State.CONTROLLED_SHUTDOWN if _leads(image, broker.id) else _State.SHUTDOWN_NOW
    return state


def _leads(image: MetadataImage, broker_id: int) -> bool:
    return any(
        partition.leader == broker_id
        for topic in image.topics
        for partition in topic.partitions.values()
    )


def _records(
    image: MetadataImage, broker: BrokerRegistration, state: _State, context: Context
) -> list[Message]:
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch)

    if state is _State.SERVING:
        change.fenced = _OFF
        elections = leadership_records(
            image, context, BrokerChange(added=broker.id), lambda each: each.leader == NO_LEADER
        )
        return [change, *elections]
    if state is _State.CONTROLLED_SHUTDOWN:
        change.in_controlled_shutdown = _ON
        moved = leadership_records(
            image, context, BrokerChange(removed=broker.id), lambda each: broker.id in each.isr
        )
        return [change, *moved]
    return [] if broker.fenced else fencing_records(image, broker, context)


def _directories_offline(
    image: MetadataImage, broker: BrokerRegistration, offline: list[Uuid], context: Context
) -> list[Message]:
    """Removes replicas in failed directories from the ISR (KIP-858). A record cannot express that
    no directory is left; in that case the broker is fenced instead."""
    lost, left = set(offline), _directories_left(broker, offline)
    if not left or len(left) == len(broker.log_dirs):
        return []

    def is_in_lost_directory(partition: PartitionRegistration) -> bool:
        return broker.id in partition.isr and partition.directory_of(broker.id) in lost

    change = BrokerRegistrationChangeRecord(
        broker_id=broker.id, broker_epoch=broker.epoch, log_dirs=left
    )
    moved = leadership_records(
        image, context, BrokerChange(removed=broker.id), is_in_lost_directory
    )
    return [*moved, change]


def _directories_left(broker: BrokerRegistration, offline: list[Uuid]) -> list[Uuid]:
    return [directory for directory in broker.log_dirs if directory not in offline]


def _directories_cordoned(broker: BrokerRegistration, cordoned: list[Uuid] | None) -> list[Message]:
    if cordoned is None or tuple(cordoned) == broker.cordoned_log_dirs:
        return []
    return [
        BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=list(cordoned)
        )
    ]
