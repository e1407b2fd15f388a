"""`ottla groups`: consumer groups; commands, options and help."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import Annotated

import typer

from ottla.cli.connection.client_command import (
    DEFAULT_INTERVAL_S,
    EXIT_CODES,
    Interval,
    Json,
    Watch,
    client_command,
)
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Show consumer groups with their lag, and move or delete their offsets.",
    epilog=EXIT_CODES,
)

Group = Annotated[str, typer.Argument(metavar="GROUP", show_default=False)]


@app.command("list")
@cluster_command
def list_groups(
    options: ClusterOptions,
    states: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="Only groups in this state: stable, empty, ...",
            show_default=False,
        ),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only groups of this type: classic, consumer, share.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the groups of the cluster, with their types and states."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.groups.run import run_list

        with_admin(
            options,
            terminal,
            lambda admin: run_list(
                admin, terminal, states=states or (), types=types or (), as_json=as_json
            ),
        )


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
    watch: Watch = False,
    interval: Interval = DEFAULT_INTERVAL_S,
    as_json: Json = False,
) -> None:
    """Show a group's committed offset and lag in each partition.

    [bold]Example[/]  ottla groups describe billing --watch --interval 2
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.groups.run import run_describe

        with suppress(KeyboardInterrupt) if watch else nullcontext():
            with_admin(
                options,
                terminal,
                lambda admin: run_describe(
                    admin,
                    terminal,
                    group,
                    shows_members=members,
                    watch_s=interval if watch else None,
                    as_json=as_json,
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
            help="[cyan]earliest[/], [cyan]latest[/], [cyan]current[/], an offset, a time "
            "([cyan]2026-11-16T08:30[/], [cyan]15m[/] ago), or [cyan]+N[/] or [cyan]-N[/] "
            "from the committed offset.",
            show_default=False,
        ),
    ],
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            metavar="TOPIC[:0,1]",
            help="Only this topic, or some of its partitions; can be repeated. Default: all "
            "partitions in which the group has offsets.",
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
    """Move a group's offsets. Stop its members first.

    [bold]Example[/]  ottla groups reset billing --to 2026-11-16T08:30 --topic orders --execute
    """
    with client_command() as terminal:
        from ottla.cli.arguments.reset_position import parse_position
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.groups.reset import run_reset
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
    """Delete groups that have no members, with their offsets."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.groups.run import run_delete

        with_admin(options, terminal, lambda admin: run_delete(admin, terminal, groups))
