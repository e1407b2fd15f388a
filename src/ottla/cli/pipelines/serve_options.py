"""The options of `ottla pipelines serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_WHO = "Authentication and TLS"

Directory = Annotated[
    Path,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Directory of the definitions; only files in it can be deployed.",
        show_default=False,
    ),
]
Checkpoints = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Directory of all checkpoints, the same for all supervisors. "
        "Default: DIR/checkpoints.",
        show_default=False,
    ),
]
Logs = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Directory of the logs of pipelines. Default: DIR/logs.",
        show_default=False,
    ),
]
Listen = Annotated[
    str,
    typer.Option(metavar="HOST:PORT", help="Address of the REST API; port 0: any free port."),
]
Advertise = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Address at which other supervisors reach this one. Default: --listen.",
        show_default=False,
    ),
]
StateTopicName = Annotated[
    str, typer.Option(help="Compacted topic with the state; created if it does not exist.")
]
Group = Annotated[str, typer.Option(help="Group of the supervisors that share the pipelines.")]
Master = Annotated[str, typer.Option(metavar="URL", help="Spark's master, for all pipelines.")]
Configs = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        metavar="NAME=VALUE",
        help="A config of Spark, for all pipelines; can be repeated.",
        show_default=False,
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
TlsCertificate = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Certificate chain in PEM.", rich_help_panel=_WHO),
]
TlsKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Private key of the certificate, in PEM.", rich_help_panel=_WHO
    ),
]
TlsClientCa = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Accept only clients with a certificate of this authority.",
        rich_help_panel=_WHO,
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log debug messages.")]
PeerCa = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Authority of the other supervisors' certificates. Default: the host's authorities.",
        show_default=False,
        rich_help_panel=_WHO,
    ),
]
