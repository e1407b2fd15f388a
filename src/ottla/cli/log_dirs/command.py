"""`ottla log-dirs`: the log directories of brokers; commands, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import EXIT_CODES, Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Show the log directories of brokers, and move replicas between them.",
    epilog=EXIT_CODES,
)


@app.command()
@cluster_command
def describe(
    options: ClusterOptions,
    brokers: Annotated[
        list[int] | None,
        typer.Option(
            "--broker",
            min=0,
            metavar="ID",
            help="Only this broker; can be repeated.",
            show_default=False,
        ),
    ] = None,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            metavar="TOPIC",
            help="Only replicas of this topic; can be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how full the directories are, and which replicas are in them.

    [bold]Example[/]  ottla log-dirs describe --broker 1 --topic orders
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.log_dirs.run import show_log_dirs

        code = with_admin(
            options,
            terminal,
            lambda admin: show_log_dirs(
                admin, terminal, brokers=brokers or (), topics=topics or (), as_json=as_json
            ),
        )
        raise typer.Exit(code)


@app.command()
@cluster_command
def move(
    options: ClusterOptions,
    replicas: Annotated[list[str], typer.Argument(metavar="TOPIC[:0,1]", show_default=False)],
    broker: Annotated[
        int,
        typer.Option(
            "--broker",
            min=0,
            metavar="ID",
            help="The broker that has the replicas.",
            show_default=False,
        ),
    ],
    directory: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="DIR",
            help="A log directory of the broker, as `describe` shows it.",
            show_default=False,
        ),
    ],
    wait: Annotated[
        bool, typer.Option("--wait", help="Return when the replicas have moved.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Move replicas of a broker to another one of its log directories, while they are in use.

    [bold]Example[/]  ottla log-dirs move orders:0,1 --broker 1 --to /disk2/ottla
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.log_dirs.move import move_replicas

        code = with_admin(
            options,
            terminal,
            lambda admin: move_replicas(
                admin, terminal, replicas, broker=broker, path=directory, wait=wait, as_json=as_json
            ),
        )
        raise typer.Exit(code)
