"""`ottla gateway`: its options and their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command
from ottla.cli.connection.trace_options import OtlpEndpointOption, TraceRatioOption

_SECURITY = "Security"
Advertise = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address by which clients reach this gateway and no other, if there are several. "
        "Default: the one it listens on.",
        show_default=False,
    ),
]
SchemaRegistry = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Schema registry, for Avro, Protobuf and JSON Schema in REST v2.",
        show_default=False,
    ),
]
SchemaRegistryConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Properties file with credentials and trust store for the schema registry: "
        "[cyan]basic.auth.user.info[/], [cyan]bearer.auth.token[/], [cyan]ssl.*[/].",
        show_default=False,
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="A limit, such as [cyan]body_bytes_max=1048576[/]; can be repeated.",
        show_default=False,
    ),
]
Authentication = Annotated[
    str,
    typer.Option(
        metavar="none|cluster",
        help="cluster: callers need Basic or Bearer credentials, with which the gateway logs "
        "in to the cluster for them. none: all callers use the gateway's own connection.",
        rich_help_panel=_SECURITY,
    ),
]
SaslMechanism = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="SASL mechanism for Basic credentials: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.",
        rich_help_panel=_SECURITY,
    ),
]
TlsCertificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Certificates of the gateway, in PEM: it then serves HTTPS.",
        show_default=False,
        rich_help_panel=_SECURITY,
    ),
]
TlsKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Private key of the certificate, in PEM.",
        show_default=False,
        rich_help_panel=_SECURITY,
    ),
]
TlsClientCa = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Authority of client certificates, in PEM. Callers then need a certificate; the "
        "gateway acts for its user with a delegation token.",
        show_default=False,
        rich_help_panel=_SECURITY,
    ),
]
PrincipalMappingRules = Annotated[
    str,
    typer.Option(
        metavar="RULES",
        help="User of a client certificate, as ssl.principal.mapping.rules of a broker.",
        rich_help_panel=_SECURITY,
    ),
]


@cluster_command
def gateway(
    options: ClusterOptions,
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Address to listen on. Port 0: any free port."),
    ] = "127.0.0.1:8082",
    advertise: Advertise = None,
    schema_registry: SchemaRegistry = None,
    schema_registry_config: SchemaRegistryConfig = None,
    limits: Limits = None,
    authentication: Authentication = "none",
    sasl_mechanism: SaslMechanism = "SCRAM-SHA-512",
    tls_certificate: TlsCertificate = None,
    tls_key: TlsKey = None,
    tls_client_ca: TlsClientCa = None,
    principal_mapping: PrincipalMappingRules = "DEFAULT",
    otlp_endpoint: OtlpEndpointOption = None,
    trace_ratio: TraceRatioOption = 1.0,
) -> None:
    """Serve a cluster over HTTP until it is stopped (Ctrl-C, SIGTERM).

    Produce and consume with JSON, as REST v2, server-sent events or WebSockets. The page /docs
    describes every call. Needs the packages of the extra web.

    [bold]Example[/]  ottla gateway --bootstrap-server 127.0.0.1:9092 --listen 127.0.0.1:8082
    """
    with client_command() as terminal:
        from ottla.cli.gateway.options import GatewayOptions
        from ottla.cli.gateway.run import run_gateway

        run_gateway(
            terminal,
            options,
            GatewayOptions(
                listen,
                advertise,
                schema_registry,
                schema_registry_config,
                tuple(limits or ()),
                authentication,
                sasl_mechanism,
                tls_certificate,
                tls_key,
                tls_client_ca,
                principal_mapping,
                otlp_endpoint,
                trace_ratio,
            ),
        )
