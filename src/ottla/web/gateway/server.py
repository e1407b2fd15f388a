"""Runs a gateway: from its settings to an address that answers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from ottla.channels import PLAINTEXT, ChannelSecurity
from ottla.client.administration.admin import Admin
from ottla.client.cluster import ClientSeams
from ottla.metrics import Metrics
from ottla.security.principal_mapping import PrincipalMapping
from ottla.security.sasl.mechanism import Mechanism
from ottla.web.gateway.app import WithoutTrailingSlash, gateway_routes, render_problem
from ottla.web.gateway.callers.admission import CallerAdmission
from ottla.web.gateway.callers.delegation import TokenIssuer
from ottla.web.gateway.callers.identification import BASIC, BEARER, CERTIFICATE, NONE
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.gateway_metrics import GatewayMetrics
from ottla.web.gateway.limits import GatewayLimits
from ottla.web.gateway.rest_v2.embedded_formats import (
    EmbeddedFormat,
    EmbeddedFormats,
    plain_formats,
)
from ottla.web.gateway.rest_v2.registry_access import RegistryAccess
from ottla.web.service.application import WebApplication
from ottla.web.service.identity import NoAuthentication
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """`properties` are those of the gateway's own client without security. `authenticates`: callers
    need credentials, which are passed on to the cluster. `advertised` is the address by which
    clients reach this gateway and no other; by default the one it listens on."""

    properties: Mapping[str, Any]
    listen: ListenAddress
    security: ChannelSecurity = PLAINTEXT
    tls: HttpTls | None = None
    authenticates: bool = False
    mechanism: Mechanism = Mechanism.SCRAM_SHA_512
    mapping: PrincipalMapping = field(default_factory=lambda: PrincipalMapping.parse("DEFAULT"))
    advertised: str | None = None
    schema_registry: RegistryAccess | None = None
    tracing: TraceSettings | None = None
    limits: GatewayLimits = field(default_factory=GatewayLimits)

    @property
    def schemes(self) -> frozenset[str]:
        has_certificates = self.tls is not None and self.tls.client_ca is not None
        found = {BASIC, BEARER} if self.authenticates else set()
        found |= {CERTIFICATE} if has_certificates else set()
        return frozenset(found or {NONE})


@asynccontextmanager
async def running_gateway(
    settings: GatewaySettings, seams: ClientSeams | None = None
) -> AsyncIterator[ListenAddress]:
    """Serves until the block ends. Yields the address. Raises ListenError."""
    seams = seams or ClientSeams.system()
    authenticates = NONE not in settings.schemes
    check_exposure(settings.listen, settings.tls, authenticates=authenticates)
    registry = settings.schema_registry
    for warning in (
        exposure_warning(settings.listen, settings.tls, authenticates=authenticates),
        None if registry is None else registry.warning(),
    ):
        if warning is not None:
            _log.warning("%s", warning)
    issuer = TokenIssuer(
        lambda: Admin({**settings.properties, "security": settings.security}, seams=seams),
        seams.clock,
    )
    metrics = Metrics()
    owner = settings.advertised or _url(settings.listen, settings.tls)
    traces = WebTraces(
        settings.tracing,
        seams.clock,
        seams.dice,
        metrics,
        service="ottla-gateway",
        instance=owner,
    )
    admission = CallerAdmission(
        settings.properties, settings.security, seams, settings.mechanism, issuer
    )
    gateway = Gateway(
        admission,
        seams.clock,
        seams.dice,
        owner=owner,
        limits=settings.limits,
        schemes=settings.schemes,
        mapping=settings.mapping,
        tracer=traces.tracer,
    )
    GatewayMetrics(metrics, gateway)
    monitoring = WebMonitoring(metrics, seams.clock, lambda: "")
    application = WebApplication(
        gateway_routes(gateway, EmbeddedFormats(_formats(settings.schema_registry))),
        monitoring,
        NoAuthentication(),
        render_problem,
        is_local=settings.listen.is_loopback and not authenticates,
        traces=traces.requests,
    )
    server = WebServer(
        WithoutTrailingSlash(application),
        settings.listen,
        settings.tls,
        connections_max=settings.limits.connections_max,
    )
    address = await server.start()
    if settings.advertised is None:
        gateway.sessions.owner = _url(address, settings.tls)
    gateway.start()
    traces.start()
    try:
        yield address
    finally:
        gateway.sessions.end_streams()
        await server.close()
        await gateway.close()
        await issuer.close()
        await traces.close()


def _url(address: ListenAddress, tls: HttpTls | None) -> str:
    return f"http{'' if tls is None else 's'}://{address}"


def _formats(schema_registry: RegistryAccess | None) -> dict[str, EmbeddedFormat]:
    if schema_registry is None:
        return plain_formats()
    # Gateways without a registry need no packages for schemas.
    from ottla.web.gateway.rest_v2.schema_formats import registry_formats

    return registry_formats(schema_registry)
