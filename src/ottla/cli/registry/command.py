"""`ottla registry`: its options and their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command
from ottla.cli.connection.trace_options import OtlpEndpointOption, TraceRatioOption

_WHO = "Authentication and TLS"
Advertise = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Address at which the other instances reach this one. Default: --listen.",
    ),
]
PeerCa = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Authority of the certificates of the other instances, in PEM. Default: those that "
        "the system trusts.",
        show_default=False,
        rich_help_panel=_WHO,
    ),
]
Authentication = Annotated[
    str,
    typer.Option(
        metavar="none|cluster",
        help="With cluster, every request needs credentials of the cluster, and the ACLs of the "
        "topic determine what the caller may do.",
        rich_help_panel=_WHO,
    ),
]


@cluster_command
def registry(
    options: ClusterOptions,
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Address of the REST API; port 0: any free port."),
    ] = "127.0.0.1:8081",
    advertise: Advertise = None,
    topic: Annotated[
        str, typer.Option(help="Compacted topic with the schemas; created if it does not exist.")
    ] = "_schemas",
    group: Annotated[
        str, typer.Option(help="Group of the instances that share the topic.")
    ] = "schema-registry",
    authentication: Authentication = "none",
    tls_certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Certificate chain in PEM.", rich_help_panel=_WHO),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Private key of the certificate, in PEM.", rich_help_panel=_WHO
        ),
    ] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Accept only clients with a certificate of this authority.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    peer_ca: PeerCa = None,
    otlp_endpoint: OtlpEndpointOption = None,
    trace_ratio: TraceRatioOption = 1.0,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log debug messages.")] = False,
) -> None:
    """Serve a schema registry until it is stopped (Ctrl-C, SIGTERM).

    Clients of Confluent's registry work with it: Avro, JSON Schema and Protobuf. Any number of
    instances share one topic; one of them writes.

    \b
        ottla registry --bootstrap-server 127.0.0.1:9092
        ottla registry --listen 0.0.0.0:8081 --authentication cluster --command-config FILE
    """
    with client_command():
        from ottla.cli.registry.run import RegistryOptions, run_registry

        run_registry(
            options,
            RegistryOptions(
                listen=listen,
                advertise=advertise,
                topic=topic,
                group=group,
                authentication=authentication,
                tls_certificate=tls_certificate,
                tls_key=tls_key,
                tls_client_ca=tls_client_ca,
                peer_ca=peer_ca,
                otlp_endpoint=otlp_endpoint,
                trace_ratio=trace_ratio,
                verbose=verbose,
            ),
        )
