"""`ottla top`: commands, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import DEFAULT_INTERVAL_S, Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command


@cluster_command
def top(
    options: ClusterOptions,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the nodes serve metrics, separated by commas. Default: the nodes of the "
            "cluster, by their configs.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Measure for one interval, and end.")
    ] = False,
    interval: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time between two updates.")
    ] = DEFAULT_INTERVAL_S,
    as_json: Json = False,
) -> None:
    """Show the load of nodes, topics and groups live, until Ctrl-C.

    Reads the metrics of the nodes (`ottla start --metrics`). Of a broker without metrics it shows
    what the protocol tells: its state, leaders, under-replicated partitions and disks.

    \b
        ottla top
        ottla top --metrics broker-1:9404,broker-2:9404
        ottla top --once --json
    """
    with client_command() as terminal:
        from ottla.cli.top.run import run_top

        raise typer.Exit(
            run_top(
                terminal,
                options,
                metrics=metrics,
                once=once,
                interval_s=interval,
                as_json=as_json,
            )
        )
