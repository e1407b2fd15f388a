"""`ottla format`: makes a node's empty directories those of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_HELP = """Format the directories of a node before it first starts in a cluster.

All nodes of a cluster get the same cluster id. The first controllers are formatted with the same
--initial-controllers; a single controller is formatted with --standalone. Controllers that join
later are formatted with --no-initial-controllers, nodes that are only brokers with none of these
options. A node that is a cluster of its own formats itself: see `ottla start`.

\b
    ottla format --new-cluster-id
    ottla format --config server.properties --cluster-id ID --standalone
    ottla format --config server.properties --cluster-id ID \\
        --initial-controllers 1@host-1:9093:DIRECTORY-ID,2@host-2:9093:DIRECTORY-ID

--add-scram creates the first users of a new cluster, such as the super user. Give the same ones on
every controller.
"""

_Workers = Annotated[
    bool, typer.Option("--workers", help="Format worker 0, for `ottla start --workers`.")
]
_NewClusterId = Annotated[
    bool,
    typer.Option("--new-cluster-id", help="Print an id for a cluster or a directory, and exit."),
]


def format(  # noqa: A001 - the command's name
    config: Annotated[
        Path | None, typer.Option(help="The node's server.properties.", show_default=False)
    ] = None,
    cluster_id: Annotated[
        str | None,
        typer.Option(
            "--cluster-id", "-t", metavar="ID", help="Id of the cluster.", show_default=False
        ),
    ] = None,
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
    add_scram: Annotated[
        list[str] | None,
        typer.Option(
            "--add-scram",
            "-S",
            metavar="MECHANISM=[name=NAME,password=PASSWORD]",
            help="A user of the new cluster who authenticates with SCRAM; can be repeated.",
            show_default=False,
        ),
    ] = None,
    ignore_formatted: Annotated[
        bool,
        typer.Option(
            "--ignore-formatted", "-g", help="Skip directories that are formatted already."
        ),
    ] = False,
    workers: _Workers = False,
    new_cluster_id: _NewClusterId = False,
) -> None:
    from ottla.cli.connection.client_command import client_command

    with client_command() as terminal:
        from ottla.cli.format.run import Formatting, format_directories, print_new_id

        if new_cluster_id:
            print_new_id()
            return
        format_directories(
            terminal,
            Formatting(
                config=config,
                cluster_id=cluster_id,
                standalone=standalone,
                initial_controllers=initial_controllers,
                no_initial_controllers=no_initial_controllers,
                ignore_formatted=ignore_formatted,
                is_worker=workers,
                add_scram=tuple(add_scram or ()),
            ),
        )


format.__doc__ = _HELP
