"""Checks that a request is from the registered incarnation of a broker."""

from __future__ import annotations

from ottla.metadata import BrokerRegistration, MetadataImage
from ottla.model import ErrorCode, KafkaError


def current_broker(image: MetadataImage, broker_id: int, epoch: int) -> BrokerRegistration:
    """Raises KafkaError (STALE_BROKER_EPOCH) for any other incarnation."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise _stale(f"No broker registration found for broker id {broker_id}")
    if broker.epoch != epoch:
        raise _stale(f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}")
    return broker


def _stale(message: str) -> KafkaError:
    return KafkaError(ErrorCode.STALE_BROKER_EPOCH, message)
