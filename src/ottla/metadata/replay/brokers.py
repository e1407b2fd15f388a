"""Records of broker and controller registrations."""

from __future__ import annotations

from ottla.metadata.broker import BrokerRegistration, ControllerRegistration
from ottla.metadata.delta import MetadataDelta
from ottla.metadata.errors import MetadataError
from ottla.metadata.image import MetadataImage
from ottla.metadata.replay.registry import applies
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)


@applies(RegisterBrokerRecord)
def apply_broker(image: MetadataImage, record: RegisterBrokerRecord, delta: MetadataDelta) -> None:
    _put(image, BrokerRegistration.from_record(record), delta)


@applies(UnregisterBrokerRecord)
def apply_broker_removal(
    image: MetadataImage, record: UnregisterBrokerRecord, delta: MetadataDelta
) -> None:
    broker = _broker(image, record.broker_id, record.broker_epoch)
    del image.brokers[broker.id]
    delta.brokers_changed.setdefault(broker.id, broker)


@applies(FenceBrokerRecord)
def apply_fencing(image: MetadataImage, record: FenceBrokerRecord, delta: MetadataDelta) -> None:
    _put(image, _broker(image, record.id, record.epoch)._replace(fenced=True), delta)


@applies(UnfenceBrokerRecord)
def apply_unfencing(
    image: MetadataImage, record: UnfenceBrokerRecord, delta: MetadataDelta
) -> None:
    _put(image, _broker(image, record.id, record.epoch)._replace(fenced=False), delta)


@applies(BrokerRegistrationChangeRecord)
def apply_broker_change(
    image: MetadataImage, record: BrokerRegistrationChangeRecord, delta: MetadataDelta
) -> None:
    broker = _broker(image, record.broker_id, record.broker_epoch)
    cordoned = record.cordoned_log_dirs
    changed = broker._replace(
        fenced=_switched(broker.fenced, record.fenced, "fenced"),
        in_controlled_shutdown=_switched(
            broker.in_controlled_shutdown, record.in_controlled_shutdown, "in_controlled_shutdown"
        ),
        log_dirs=tuple(record.log_dirs) or broker.log_dirs,
        cordoned_log_dirs=broker.cordoned_log_dirs if cordoned is None else tuple(cordoned),
    )
    _put(image, changed, delta)


@applies(RegisterControllerRecord)
def apply_controller(
    image: MetadataImage, record: RegisterControllerRecord, delta: MetadataDelta
) -> None:
    controller = ControllerRegistration.from_record(record)
    delta.controllers_changed.setdefault(controller.id, image.controllers.get(controller.id))
    image.controllers[controller.id] = controller


def _broker(image: MetadataImage, broker_id: int, epoch: int) -> BrokerRegistration:
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise MetadataError(f"broker {broker_id} is not registered")
    if broker.epoch != epoch:
        raise MetadataError(f"broker {broker_id} has epoch {broker.epoch}; a record names {epoch}")
    return broker


def _put(image: MetadataImage, broker: BrokerRegistration, delta: MetadataDelta) -> None:
    delta.brokers_changed.setdefault(broker.id, image.brokers.get(broker.id))
    image.brokers[broker.id] = broker


def _switched(current: bool, change: int, name: str) -> bool:
    """1 sets it, -1 clears it, 0 leaves it unchanged."""
    if change not in (-1, 0, 1):
        raise MetadataError(f"a broker's {name} changes by {change}; it must be -1, 0 or 1")
    return current if change == 0 else change == 1
