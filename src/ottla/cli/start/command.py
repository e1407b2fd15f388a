"""`ottla start`: one node in the foreground."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Annotated

import typer

_HELP = """Run one node until it is stopped (Ctrl-C, SIGTERM).

With an empty data directory, the node starts a new cluster. Any Kafka client can connect as soon as
the line that begins with "Ready" is printed.

\b
    ottla start --data-dir ./data
    ottla start --data-dir ./data --listen 0.0.0.0:9092 --advertise broker.example.org:9092
    ottla start --config server.properties --set num.partitions=3
    ottla start --config server.properties --workers auto
"""


def start(
    data_dir: Annotated[
        Path | None, typer.Option(help="Directory of the logs; created if it does not exist.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Default 127.0.0.1:9092; port 0: any free port."),
    ] = None,
    advertise: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address that the node advertises to clients."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Kafka's server.properties; command-line options override the file."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve /metrics, /healthz and /readyz over HTTP. A port alone: on 127.0.0.1.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any of Kafka's broker configs."),
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(
            metavar="N|auto",
            help="Run this many nodes on this host, to use that many cores; auto: one for each "
            "core.",
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log debug messages.")] = False,
) -> None:
    if workers is not None:
        from ottla.cli.connection.client_command import client_command

        with client_command() as terminal:
            from ottla.cli.start.workers.run import run_workers

            run_workers(
                terminal,
                workers,
                data_dir=data_dir,
                listen=listen,
                advertise=advertise,
                config=config,
                metrics=metrics,
                settings=settings or [],
            )
        return
    # The collector would walk what is imported again and again. The node turns it on to serve.
    gc.disable()
    from ottla.cli.start.run import run_node

    raise typer.Exit(
        run_node(
            data_dir=data_dir,
            listen=listen,
            advertise=advertise,
            config=config,
            metrics=metrics,
            settings=settings or [],
            verbose=verbose,
        )
    )


start.__doc__ = _HELP
