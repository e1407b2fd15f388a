"""Receives the metrics of clients (KIP-714).

A node takes part if its metrics are read, by scrapes or by a collector: then they have somewhere to
go. A payload is opened by a worker, with a limit for its size, and read in slices on the event
loop, one payload at a time.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import ClientConnectionEnd, RequestContext
from ottla.broker.telemetry.client_instances import (
    ClientIdentity,
    ClientInstance,
    ClientInstances,
)
from ottla.broker.telemetry.received_metrics import PushedValues, ReceivedMetrics
from ottla.configs import ClientMetricsSubscription, ConfigResourceType
from ottla.metadata import MetadataDelta
from ottla.metrics import Metrics
from ottla.metrics.otlp.decoding import received_points
from ottla.metrics.otlp.protobuf import ProtobufError
from ottla.metrics.table.client_telemetry import PUSHES
from ottla.model import ErrorCode, KafkaError, Uuid, uuid_to_text
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.slices import in_slices
from ottla.wire.errors import ProtocolError
from ottla.wire.records.compression import Codec, decompress

_log = logging.getLogger(__name__)

# In the order of Kafka's preference.
ACCEPTED_CODECS: Final = (Codec.ZSTD, Codec.LZ4, Codec.GZIP, Codec.SNAPPY)
# Kafka reserves them.
_RESERVED_IDS: Final = frozenset({Uuid(bytes(16)), Uuid(bytes(15) + b"\1")})
_EXPIRY_CHECK_SECONDS: Final = 10.0


class ClientTelemetry:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        clock: Clock,
        dice: Dice,
        background: Background,
        metrics: Metrics,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._dice = dice
        self._background = background
        self._metrics = metrics
        self._instances = ClientInstances()
        # The last instance of each connection, as Kafka keeps it.
        self._of_connections: dict[ClientConnectionEnd, Uuid] = {}
        self.received = ReceivedMetrics(series_max=cluster.config.client_metrics_series_max)
        self._turn = asyncio.Lock()
        self._checked_at = clock.monotonic()
        cluster.metadata.listen(self._metadata_changed)
        self._subscribe()

    @property
    def clients(self) -> int:
        """Client instances that are known."""
        return len(self._instances)

    def subscription_of(
        self, id_: Uuid, context: RequestContext
    ) -> tuple[ErrorCode, Uuid, ClientInstance]:
        """What a client shall push, with its instance id. A client without one gets one."""
        if id_ in _RESERVED_IDS:
            id_ = self._dice.uuid()
        instance = self._instance(id_, context)
        return instance.get(self._clock.monotonic()), id_, instance

    async def push(
        self,
        id_: Uuid,
        context: RequestContext,
        payload: bytes,
        *,
        subscription_id: int,
        compression_type: int,
        is_terminating: bool,
    ) -> ErrorCode:
        if id_ in _RESERVED_IDS:
            error = ErrorCode.INVALID_REQUEST
        else:
            instance = self._instance(id_, context)
            error = instance.push(
                self._clock.monotonic(),
                subscription_id=subscription_id,
                is_terminating=is_terminating,
            )
            if not error:
                error = await self._receive(instance, payload, compression_type)
            instance.last_error = error
        self._metrics.counter(PUSHES, error.name).add()
        return error

    async def _receive(
        self, instance: ClientInstance, payload: bytes, compression_type: int
    ) -> ErrorCode:
        bytes_max = self._cluster.config.telemetry_max_bytes
        if compression_type not in tuple(Codec):
            return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        if len(payload) > bytes_max:
            return ErrorCode.TELEMETRY_TOO_LARGE
        if not payload:
            return ErrorCode.NONE
        async with self._turn:
            values = self.received.values_after(instance.client)
            try:
                await self._read(Codec(compression_type), payload, bytes_max, values)
            except (ProtocolError, ProtobufError) as error:
                _log.info("refusing the metrics of a client: %s", error)
                return ErrorCode.INVALID_RECORD
        expires_at = self._clock.monotonic() + instance.expiry_seconds
        self.received.replace(instance.client, values, expires_at=expires_at)
        return ErrorCode.NONE

    async def _read(
        self, codec: Codec, payload: bytes, bytes_max: int, values: PushedValues
    ) -> None:
        """Raises ProtocolError and ProtobufError."""
        if codec is not Codec.NONE:
            open_ = partial(decompress, output_bytes_max=bytes_max)
            payload = await self._background.run(open_, codec, payload)
        async for point in in_slices(received_points(payload), self._clock):
            if point is not None:
                values.add(point)

    def expire(self) -> None:
        """Forgets clients that have not been seen for long. Called before the metrics are read."""
        self._checked_at = now = self._clock.monotonic()
        self._instances.expire(now)
        self.received.expire(now)

    def _instance(self, id_: Uuid, context: RequestContext) -> ClientInstance:
        now = self._clock.monotonic()
        if now - self._checked_at > _EXPIRY_CHECK_SECONDS:
            self.expire()
        is_new = id_ not in self._instances
        instance = self._instances.of(id_, _identity(id_, context), now)
        connection = context.connection
        if is_new and connection is not None:
            is_known = connection in self._of_connections
            self._of_connections[connection] = id_
            if not is_known:
                connection.when_closed(partial(self._closed, connection))
        return instance

    def _closed(self, connection: ClientConnectionEnd) -> None:
        self._instances.remove(self._of_connections.pop(connection))

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        if any(each.type is ConfigResourceType.CLIENT_METRICS for each in delta.configs_changed):
            self._subscribe()

    def _subscribe(self) -> None:
        found = []
        for resource, configs in self._cluster.image.configs.items():
            if resource.type is ConfigResourceType.CLIENT_METRICS and configs:
                try:
                    found.append(ClientMetricsSubscription.of(configs))
                except KafkaError as error:
                    _log.warning(
                        "client metrics subscription %s is ignored: %s", resource.name, error
                    )
        self._instances.change_subscriptions(found)


def _identity(id_: Uuid, context: RequestContext) -> ClientIdentity:
    name, version, port = "unknown", "unknown", ""
    if context.connection is not None:
        session = context.connection.session
        name, version = session.software
        port = str(session.port)
    return ClientIdentity(
        uuid_to_text(id_), context.client_id, name, version, context.client_host, port
    )
