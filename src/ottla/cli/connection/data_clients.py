"""The consumers and producers of commands, with the user's properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ottla.cli.client_security.refused_properties import refused_properties
from ottla.cli.connection.client_properties import client_properties
from ottla.cli.connection.cluster_access import ClusterAccess
from ottla.client.consuming.consumer import Consumer
from ottla.client.consuming.properties import CONSUMER
from ottla.client.producing.producer import Producer
from ottla.client.settings.producer import PRODUCER
from ottla.client.sharing.properties import SHARE_CONSUMER
from ottla.client.sharing.share_consumer import ShareConsumer
from ottla.client.sync.producer import Producer as SyncProducer

# Without a group, a start is always given.
_CONSUMER: Final = {
    "enable.auto.commit": False,
    "auto.offset.reset": "none",
    "isolation.level": "read_committed",
}
# Brokers refuse records that are too large; the client must hold one record and some batches.
_RECORD_BYTES_MAX: Final = 256 << 20
_PRODUCER: Final = {
    # Long enough for restarts of brokers.
    "delivery.timeout.ms": 30_000,
    "request.timeout.ms": 20_000,
    "max.request.size": _RECORD_BYTES_MAX,
    "buffer.memory": _RECORD_BYTES_MAX,
    "batch.size": 128 << 10,
}


def new_producer(access: ClusterAccess, configs: Mapping[str, Any]) -> Producer:
    """The user's properties override these configs. Raises CommandError."""
    with refused_properties():
        return Producer(producer_properties(access, configs))


def new_sync_producer(access: ClusterAccess, configs: Mapping[str, Any]) -> SyncProducer:
    """For commands that read blocking input. Raises CommandError."""
    with refused_properties():
        return SyncProducer(producer_properties(access, configs))


def producer_properties(access: ClusterAccess, configs: Mapping[str, Any]) -> dict[str, Any]:
    """With acks=all a record that is sent again is not written twice."""
    properties = {**_PRODUCER, **configs, **client_properties(access, PRODUCER)}
    return properties | {"bootstrap.servers": access.bootstrap}


def new_consumer(access: ClusterAccess, configs: Mapping[str, Any] | None = None) -> Consumer:
    """The user's properties override these configs. Raises CommandError."""
    properties = {**_CONSUMER, **(configs or {}), **client_properties(access, CONSUMER)}
    with refused_properties():
        return Consumer(properties | {"bootstrap.servers": access.bootstrap})


def new_share_consumer(access: ClusterAccess, configs: Mapping[str, Any]) -> ShareConsumer:
    """The user's properties override these configs. Raises CommandError."""
    properties = {**configs, **client_properties(access, SHARE_CONSUMER)}
    with refused_properties():
        return ShareConsumer(properties | {"bootstrap.servers": access.bootstrap})
