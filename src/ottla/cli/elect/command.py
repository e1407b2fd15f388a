"""`ottla elect`: leaders of partitions, elected on request."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

_HELP = """Elect leaders of partitions: their preferred leaders, or any live replica.

An unclean election can make a replica leader that is not in sync; records that it does not have are
lost. Only a partition without a leader needs one.

\\b
    ottla elect --all
    ottla elect --topic orders --partition 0 --unclean
"""


@cluster_command
def elect(
    options: ClusterOptions,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            metavar="TOPIC",
            help="Partitions of this topic; can be repeated.",
            show_default=False,
        ),
    ] = None,
    partitions: Annotated[
        list[int] | None,
        typer.Option(
            "--partition",
            "-p",
            min=0,
            metavar="N",
            help="Only this partition; can be repeated.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", "-a", help="Partitions of all topics.")] = False,
    unclean: Annotated[
        bool, typer.Option("--unclean", help="Elect any live replica, in sync or not.")
    ] = False,
    as_json: Json = False,
) -> None:
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.elect.run import RequestedElection, elect_leaders

        election = RequestedElection.of(topics or (), partitions or (), every=every)
        code = with_admin(
            options,
            terminal,
            lambda admin: elect_leaders(
                admin, terminal, election, unclean=unclean, as_json=as_json
            ),
        )
        raise typer.Exit(code)


elect.__doc__ = _HELP
