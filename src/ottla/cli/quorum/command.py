"""`ottla quorum`: the controllers that hold the cluster's metadata; commands, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import (
    EXIT_CODES,
    Json,
    client_command,
)
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Show the controllers, and add or remove voters.",
    epilog=EXIT_CODES,
)


@app.command()
@cluster_command
def status(options: ClusterOptions, as_json: Json = False) -> None:
    """Show the leader, voters and observers of the quorum, and the lag of each."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.quorum.run import show_quorum

        with_admin(options, terminal, lambda admin: show_quorum(admin, terminal, as_json=as_json))


@app.command()
@cluster_command
def add(
    options: ClusterOptions,
    controller: Annotated[
        str | None,
        typer.Argument(metavar="[ID@HOST:PORT:DIRECTORY-ID]", show_default=False),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="Or the server.properties of the controller, on its own host.", show_default=False
        ),
    ] = None,
) -> None:
    """Add a voter: a controller that already runs as an observer.

    Format the controller with [cyan]--no-initial-controllers[/] and start it; then [cyan]quorum
    status[/] shows it as an observer, with the id of its directory.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.quorum.run import add_voter, named_voter

        voter = named_voter(controller, config)
        with_admin(options, terminal, lambda admin: add_voter(admin, terminal, voter))


@app.command()
@cluster_command
def remove(
    options: ClusterOptions,
    node: Annotated[int, typer.Argument(metavar="NODE", min=0, show_default=False)],
    directory_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Id of its directory, if the node has had several.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Remove a voter. The controller may continue to run, as an observer."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.quorum.run import remove_voter

        with_admin(
            options,
            terminal,
            lambda admin: remove_voter(admin, terminal, node, directory_id=directory_id),
        )
