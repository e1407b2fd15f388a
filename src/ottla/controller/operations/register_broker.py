"""BrokerRegistration, versions 0 to 4: registers a broker, which is fenced at first.

INCONSISTENT_CLUSTER_ID, DUPLICATE_BROKER_REGISTRATION while another broker with this id is alive,
INVALID_REGISTRATION for invalid directories, UNSUPPORTED_VERSION if the broker does not support a
finalized feature level of the cluster.
"""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.leadership import BrokerChange, leadership_records
from ottla.metadata import MetadataImage, VersionRange
from ottla.metadata.broker import feature_structs, listener_structs, version_ranges
from ottla.metadata.features import METADATA_VERSION
from ottla.model import ErrorCode, KafkaError, Uuid, uuid_to_text
from ottla.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)

# Ids below this one are reserved and are not directories (KIP-858).
_RESERVED_IDS = 100


def register_broker(
    image: MetadataImage,
    request: BrokerRegistrationRequest,
    context: Context,
    *,
    has_session: bool = False,
) -> OperationOutcome[BrokerRegistrationResponse]:
    """`has_session`: whether the registered incarnation is alive (from `BrokerSessions`)."""
    try:
        _check(image, request, context, has_session=has_session)
    except KafkaError as error:
        return OperationOutcome([], BrokerRegistrationResponse(error_code=error.code))
    record = _registration(request)
    records: list[Message] = []
    existing = image.brokers.get(request.broker_id)
    if existing is not None and existing.incarnation_id == request.incarnation_id:
        record.broker_epoch = existing.epoch
        record.fenced = existing.fenced
        record.in_controlled_shutdown = existing.in_controlled_shutdown
    else:
        record.broker_epoch = context.next_offset
        is_clean = existing is not None and request.previous_broker_epoch == existing.epoch
        records = _end_previous_incarnation(image, request.broker_id, context, is_clean=is_clean)
    return OperationOutcome(
        [*records, record], BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
    )


def _check(
    image: MetadataImage,
    request: BrokerRegistrationRequest,
    context: Context,
    *,
    has_session: bool,
) -> None:
    if request.cluster_id != context.cluster_id:
        raise KafkaError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {context.cluster_id}, but got cluster ID {request.cluster_id}",
        )
    existing = image.brokers.get(request.broker_id)
    if existing is not None and existing.incarnation_id != request.incarnation_id and has_session:
        raise KafkaError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            "Another broker is registered with that broker id.",
        )
    if request.is_migrating_zk_broker:
        raise KafkaError(
            ErrorCode.BROKER_ID_NOT_REGISTERED,
            "Controller does not support registering ZK brokers.",
        )
    _check_directories(image, request.broker_id, request.log_dirs)
    _check_features(image, request)


def _check_directories(image: MetadataImage, broker_id: int, directories: list[Uuid]) -> None:
    if not directories:
        raise _invalid("No directories specified in request")
    if any(int.from_bytes(directory) < _RESERVED_IDS for directory in directories):
        raise _invalid("Reserved directory ID in request")
    if len(set(directories)) < len(directories):
        raise _invalid("Duplicate directory ID in request")
    for other in image.brokers.values():
        taken = set(directories).intersection(other.log_dirs)
        if other.id != broker_id and taken:
            raise _invalid(
                f"Broker {other.id} is already registered with directory "
                f"{uuid_to_text(taken.pop())}"
            )


def _check_features(image: MetadataImage, request: BrokerRegistrationRequest) -> None:
    """The broker has to support every finalized level; of features that it does not list, only
    level 0."""
    supported = version_ranges(request.features)
    if METADATA_VERSION not in supported:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION, f"Request features do not contain '{METADATA_VERSION}'"
        )
    for name in {*image.features, *supported}:
        level = image.features.get(name, 0)
        low, high = supported.get(name, VersionRange(0, 0))
        if not low <= level <= high:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Unable to register because the broker does not support finalized version "
                f"{level} of {name}. The broker wants a version between {low} and {high}, "
                "inclusive.",
            )


def _registration(request: BrokerRegistrationRequest) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        end_points=listener_structs(BrokerEndpoint, request.listeners),
        features=feature_structs(BrokerFeature, version_ranges(request.features)),
        rack=request.rack,
        log_dirs=list(request.log_dirs),
    )


def _end_previous_incarnation(
    image: MetadataImage, broker_id: int, context: Context, *, is_clean: bool
) -> list[Message]:
    """Removes the previous incarnation of the broker from the ISR of every partition.

    Without proof of a clean shutdown it may have lost acknowledged records, so it is removed from
    the eligible leader replicas as well.
    """
    if is_clean or not image.has_eligible_leader_replicas:
        change = BrokerChange(removed=broker_id)
        return leadership_records(image, context, change, lambda each: broker_id in each.isr)
    return leadership_records(
        image,
        context,
        BrokerChange(unclean=broker_id),
        lambda each: broker_id in each.isr or broker_id in each.eligible_leader_replicas,
    )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REGISTRATION, message)
