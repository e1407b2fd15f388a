"""`ottla restore`: its options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import client_command


def restore(
    source: Annotated[
        Path,
        typer.Option(
            "--from", metavar="DIR", help="The directory of the backup.", show_default=False
        ),
    ],
    config: Annotated[Path, typer.Option(help="The node's server.properties.", show_default=False)],
    standalone: Annotated[
        bool, typer.Option("--standalone", "-s", help="This node is the only controller.")
    ] = False,
    initial_controllers: Annotated[
        str | None,
        typer.Option(
            "--initial-controllers",
            "-I",
            metavar="ID@HOST:PORT:DIRECTORY-ID,...",
            help="The first controllers; the same list on each of them.",
            show_default=False,
        ),
    ] = None,
    no_initial_controllers: Annotated[
        bool, typer.Option("--no-initial-controllers", "-N", help="This node joins a cluster.")
    ] = False,
    workers: Annotated[
        bool, typer.Option("--workers", help="Restore worker 0, for `ottla start --workers`.")
    ] = False,
) -> None:
    """Fill the empty directories of a node from a backup.

    Run it once for each node of the cluster, with the node ids of the old one, instead of
    [cyan]ottla format[/] and with the same options for the controllers. The cluster id is the
    backup's. Then start all nodes.

    [bold]Never[/] start a restored cluster while clients of the old one may still write to it: both
    would have the same cluster id.

    [bold]Examples[/]

      ottla restore --from /backups/monday --config server.properties --standalone
      ottla restore --from /backups/monday --config server.properties
          --initial-controllers 1@host-1:9093:DIRECTORY-ID,2@host-2:9093:DIRECTORY-ID

    [bold]Exit codes[/]  0: done.  1: refused or damaged.  2: wrong usage.
    """
    with client_command() as terminal:
        from ottla.cli.format.run import Formatting
        from ottla.cli.restore.run import run_restore

        run_restore(
            terminal,
            source,
            Formatting(
                config=config,
                cluster_id=None,
                standalone=standalone,
                initial_controllers=initial_controllers,
                no_initial_controllers=no_initial_controllers,
                ignore_formatted=False,
                is_worker=workers,
            ),
        )
