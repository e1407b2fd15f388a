"""One instance of the registry: puts state, store, operations and routes together."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ottla.client import ConsumedRecord
from ottla.client.cluster import ClientSeams
from ottla.metrics import Metrics
from ottla.metrics.table import web as table
from ottla.schemas.registered.records import (
    Change,
    TopicRecord,
    decode_change,
    encode_change,
)
from ottla.schemas.registered.state import RegistryState
from ottla.security.sasl.mechanism import Mechanism
from ottla.web.registry.api.changing import ChangingApi
from ottla.web.registry.api.lookups import Lookups
from ottla.web.registry.api.responses import render_problem
from ottla.web.registry.api.routes import registry_routes
from ottla.web.registry.operations.schema_work import SchemaWork
from ottla.web.registry.operations.writes import RegistryWrites
from ottla.web.registry.storing.store import KafkaSchemaStore
from ottla.web.service.application import WebApplication
from ottla.web.service.cluster_login import ClusterLogin
from ottla.web.service.forwarding import InstanceClient, peer_context
from ottla.web.service.identity import NoAuthentication, WebAuthenticator
from ottla.web.service.instance_address import InstanceAddress
from ottla.web.service.listening import (
    HttpTls,
    ListenAddress,
    check_exposure,
    exposure_warning,
)
from ottla.web.service.monitoring import WebMonitoring
from ottla.web.service.web_server import WebServer
from ottla.web.service.web_traces import TraceSettings, WebTraces

_log = logging.getLogger(__name__)

DEFAULT_TOPIC = "_schemas"
DEFAULT_GROUP = "schema-registry"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySettings:
    """`properties` are those of the client by which the registry uses the cluster. With `logs_in`,
    callers are checked by the cluster, passwords by this mechanism. `peer_ca` is the authority of
    the other instances' certificates, in PEM; without it, the system's are trusted."""

    listen: ListenAddress
    properties: Mapping[str, Any] = field(repr=False)
    advertise: ListenAddress | None = None
    tls: HttpTls | None = None
    peer_ca: Path | None = None
    logs_in: Mechanism | None = None
    topic: str = DEFAULT_TOPIC
    group_id: str = DEFAULT_GROUP
    tracing: TraceSettings | None = None


class SchemaRegistry:
    """Serves from `start` to `close`, on one event loop."""

    def __init__(self, settings: RegistrySettings, seams: ClientSeams | None = None) -> None:
        """Raises ListenError and ConfigError."""
        check_exposure(settings.listen, settings.tls, authenticates=settings.logs_in is not None)
        self._settings = settings
        self._seams = seams = seams or ClientSeams.system()
        self.state = RegistryState()
        self.metrics = Metrics()
        self._written = self.metrics.counter(table.REGISTRY_WRITES)
        self._store = KafkaSchemaStore(
            settings.topic, settings.group_id, settings.properties, seams, self._apply
        )
        self._work = SchemaWork()
        self._client = InstanceClient(peer_context(settings.tls, settings.peer_ca))
        writes = RegistryWrites(self.state, self._append)
        lookups = Lookups(self.state, self._work, self._store, settings.group_id)
        changing = ChangingApi(
            self.state, self._work, writes, self._store, seams.clock, self._client
        )
        self._authenticator = self._make_authenticator()
        self._traces = WebTraces(
            settings.tracing,
            seams.clock,
            seams.dice,
            self.metrics,
            service="ottla-registry",
            instance=str(settings.advertise or settings.listen),
        )
        monitoring = WebMonitoring(self.metrics, seams.clock, self._not_ready)
        self._measure()
        application = WebApplication(
            registry_routes(lookups, changing),
            monitoring,
            self._authenticator,
            render_problem,
            is_local=settings.listen.is_loopback and settings.logs_in is None,
            traces=self._traces.requests,
        )
        self._server = WebServer(application, settings.listen, settings.tls)

    async def start(self) -> ListenAddress:
        """Returns the address where the instance serves. Raises ListenError and ClientError."""
        settings = self._settings
        authenticates = settings.logs_in is not None
        warning = exposure_warning(settings.listen, settings.tls, authenticates=authenticates)
        if warning is not None:
            _log.warning("%s", warning)
        await self._store.start()
        address = await self._server.start()
        advertised = settings.advertise or address
        scheme = "http" if settings.tls is None else "https"
        self._traces.start()
        self._store.join(InstanceAddress(advertised.host, advertised.port, scheme))
        return address

    async def close(self) -> None:
        await self._server.close()
        await self._authenticator.close()
        await self._store.close()
        self._client.close()
        await self._work.close()
        await self._traces.close()

    @property
    def is_writer(self) -> bool:
        return self._store.is_writer

    @property
    def writer(self) -> InstanceAddress | None:
        return self._store.writer

    def _make_authenticator(self) -> WebAuthenticator:
        mechanism = self._settings.logs_in
        if mechanism is None:
            return NoAuthentication()
        return ClusterLogin(
            self._store.settings, self._seams, mechanism, topic=self._settings.topic
        )

    def _apply(self, record: ConsumedRecord) -> None:
        if record.key is None:
            return
        change = decode_change(TopicRecord(record.key, record.value), record.timestamp)
        if change is not None:
            self.state.apply(change)

    async def _append(self, changes: Sequence[Change]) -> None:
        await self._store.append([encode_change(each) for each in changes])
        self._written.add(len(changes))

    def _not_ready(self) -> str:
        if not self._store.is_read:
            return "reading the topic of schemas"
        if self._store.writer is None:
            return "no instance is the writer"
        return ""

    def _measure(self) -> None:
        state, store = self.state, self._store
        self.metrics.measure(
            table.REGISTRY_SUBJECTS,
            lambda: [
                ((), sum(state.has_subject(each, with_deleted=False) for each in state.subjects()))
            ],
        )
        self.metrics.measure(
            table.REGISTRY_SCHEMAS,
            lambda: [
                ((str(deleted).lower(),), count)
                for deleted, count in state.count_versions().items()
            ],
        )
        self.metrics.measure(table.REGISTRY_WRITER, lambda: [((), int(store.is_writer))])
        self.metrics.measure(table.REGISTRY_OFFSET, lambda: [((), store.position)])
