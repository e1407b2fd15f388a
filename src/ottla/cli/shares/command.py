"""`ottla shares`: share groups; commands, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import EXIT_CODES, Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Show share groups with their lag, move their offsets, delete them, and redrive their "
    "dead letters.",
    epilog=EXIT_CODES,
)

_WHICH = "Which dead letters"
Group = Annotated[str, typer.Argument(metavar="GROUP", show_default=False)]


@app.command("list")
@cluster_command
def list_shares(options: ClusterOptions, as_json: Json = False) -> None:
    """List the share groups of the cluster, with their states."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.shares.run import run_list

        with_admin(options, terminal, lambda admin: run_list(admin, terminal, as_json=as_json))


@app.command()
@cluster_command
def describe(
    options: ClusterOptions,
    group: Group,
    members: Annotated[
        bool,
        typer.Option(
            "--members", help="Show the members instead, with the partitions assigned to each."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a share group's start offset and lag in each partition.

    [bold]Example[/]  ottla shares describe billing
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.shares.run import run_describe

        with_admin(
            options,
            terminal,
            lambda admin: run_describe(
                admin, terminal, group, shows_members=members, as_json=as_json
            ),
        )


@app.command()
@cluster_command
def reset(
    options: ClusterOptions,
    group: Group,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="POSITION",
            help="[cyan]earliest[/], [cyan]latest[/], an offset, or a time "
            "([cyan]2026-11-16T08:30[/], [cyan]15m[/] ago).",
            show_default=False,
        ),
    ],
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            metavar="TOPIC[:0,1]",
            help="Only this topic, or some of its partitions; can be repeated. Default: all "
            "partitions of the group.",
            show_default=False,
        ),
    ] = None,
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Move the offsets; without this, only show what would be moved."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Move a share group's start offsets. Stop its members first.

    Which records are in flight, and how often they were delivered, is forgotten.

    [bold]Example[/]  ottla shares reset billing --to earliest --topic orders --execute
    """
    with client_command() as terminal:
        from ottla.cli.arguments.reset_position import parse_position
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.shares.reset import run_reset
        from ottla.runtime.system_clock import SystemClock

        position = parse_position(to, now_ms=SystemClock().now_ms())
        with_admin(
            options,
            terminal,
            lambda admin: run_reset(
                admin, terminal, group, position, topics or (), executes=execute, as_json=as_json
            ),
        )


@app.command()
@cluster_command
def delete(
    options: ClusterOptions,
    groups: Annotated[list[str], typer.Argument(metavar="GROUP...", show_default=False)],
) -> None:
    """Delete share groups that have no members, with their state."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.shares.run import run_delete

        with_admin(options, terminal, lambda admin: run_delete(admin, terminal, groups))


@app.command()
@cluster_command
def redrive(
    options: ClusterOptions,
    topic: Annotated[str, typer.Argument(metavar="DEAD_LETTER_TOPIC", show_default=False)],
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="GROUP", show_default=False, rich_help_panel=_WHICH),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            "--topic",
            metavar="TOPIC[:0,1]",
            help="Records that came from this topic, or some of its partitions.",
            show_default=False,
            rich_help_panel=_WHICH,
        ),
    ] = None,
    cause: Annotated[
        str | None,
        typer.Option(
            "--cause",
            metavar="CAUSE",
            help="[cyan]rejected[/] by a member, or delivered up to the [cyan]limit[/].",
            show_default=False,
            rich_help_panel=_WHICH,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--max", "-n", min=1, show_default=False, rich_help_panel=_WHICH),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Also those redriven before.", rich_help_panel=_WHICH),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option("--to", metavar="TOPIC", help="Send all to this topic.", show_default=False),
    ] = None,
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Send the records; without this, only show what would be sent."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Send the records of dead letters back to the topics they came from, each exactly once.

    [bold]Example[/]  ottla shares redrive dlq.orders --cause limit --execute
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.connection.cluster_access import resolve
        from ottla.cli.shares.redrive.dead_letter import letter_filter
        from ottla.cli.shares.redrive.run import RedriveRequest, run_redrive

        letters = letter_filter(group, origin, cause)
        request = RedriveRequest(topic, letters, target, limit, again, execute)
        access = resolve(options)
        with_admin(
            options,
            terminal,
            lambda admin: run_redrive(admin, access, terminal, request, as_json=as_json),
        )
