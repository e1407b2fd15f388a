"""`ottla reassign`: moves partitions between brokers; its commands, options and help."""

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
    help="Move partitions between brokers, with plans in the format of Kafka's own tool.",
    epilog=EXIT_CODES,
)

Plan = Annotated[Path, typer.Argument(metavar="PLAN", show_default=False)]


@app.command()
@cluster_command
def generate(
    options: ClusterOptions,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            "-t",
            metavar="TOPIC",
            help="Only this topic; can be repeated.",
            show_default=False,
        ),
    ] = None,
    brokers: Annotated[
        str | None,
        typer.Option(
            metavar="ID,ID,...", help="Brokers that get replicas; default: all.", show_default=False
        ),
    ] = None,
    replication_factor: Annotated[
        int | None,
        typer.Option(
            "--replication-factor",
            "-r",
            min=1,
            metavar="N",
            help="New replication factor; default: unchanged.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print a plan that balances topics over brokers and moves as few replicas as possible.

    [bold]Example[/]  ottla reassign generate --brokers 1,2,4 > plan.json
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.reassign.run import generate, parse_brokers

        broker_ids = parse_brokers(brokers)
        with_admin(
            options,
            terminal,
            lambda admin: generate(
                admin,
                terminal,
                topics=topics or (),
                brokers=broker_ids,
                replication_factor=replication_factor,
            ),
        )


@app.command()
@cluster_command
def execute(
    options: ClusterOptions,
    plan: Plan,
    throttle: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="BYTES",
            help="Bytes per second that each broker may use for the moves; execute again to "
            "change it.",
            show_default=False,
        ),
    ] = None,
    keep_factor: Annotated[
        bool,
        typer.Option(
            "--keep-replication-factor", help="Refuse moves that change the replication factor."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the moves of a plan, and print the plan that reverts them."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.reassign.run import execute

        code = with_admin(
            options,
            terminal,
            lambda admin: execute(
                admin,
                terminal,
                plan,
                throttle=throttle,
                can_change_factor=not keep_factor,
                as_json=as_json,
            ),
        )
        raise typer.Exit(code)


@app.command()
@cluster_command
def verify(
    options: ClusterOptions,
    plan: Plan,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until all moves are complete.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the progress of a plan's moves. When all are complete, remove their throttle.

    The exit code is 0 if all are done, 1 if not.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.reassign.run import verify

        code = with_admin(
            options,
            terminal,
            lambda admin: verify(admin, terminal, plan, wait=wait, as_json=as_json),
        )
        raise typer.Exit(code)


@app.command()
@cluster_command
def cancel(
    options: ClusterOptions,
    plan: Annotated[Path | None, typer.Argument(metavar="[PLAN]", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """Cancel moves that are in progress: those of a plan, or all."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.reassign.run import cancel

        code = with_admin(
            options, terminal, lambda admin: cancel(admin, terminal, plan, as_json=as_json)
        )
        raise typer.Exit(code)


@app.command("list")
@cluster_command
def list_(options: ClusterOptions, as_json: Json = False) -> None:
    """List the moves that are in progress."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.reassign.run import list_moves

        with_admin(options, terminal, lambda admin: list_moves(admin, terminal, as_json=as_json))
