"""`ottla transactions`: transactional ids and their transactions; commands, options and help."""

from __future__ import annotations

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
    help="Show transactions, and abort hanging ones.",
    epilog=EXIT_CODES,
)

TopicOption = Annotated[
    str | None,
    typer.Option("--topic", metavar="TOPIC", help="Only in this topic.", show_default=False),
]


@app.command("list")
@cluster_command
def list_transactions(
    options: ClusterOptions,
    states: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="Only these: Ongoing, PrepareCommit, CompleteAbort, ...",
            show_default=False,
        ),
    ] = None,
    longer_than: Annotated[
        str | None,
        typer.Option(
            "--longer-than",
            metavar="AGE",
            help="Only transactions that have been open for longer than this, such as 90s or 15m.",
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="REGEX",
            help="Only ids that this regular expression matches as a whole.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the transactional ids of the cluster, with their states and coordinators."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.transactions.run import show_list

        with_admin(
            options,
            terminal,
            lambda admin: show_list(
                admin,
                terminal,
                states=states or (),
                longer_than=longer_than,
                pattern=pattern,
                as_json=as_json,
            ),
        )


@app.command()
@cluster_command
def describe(
    options: ClusterOptions,
    transactional_id: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    as_json: Json = False,
) -> None:
    """Show a transactional id: its producer, its transaction and the transaction's partitions."""
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.transactions.run import show_description

        with_admin(
            options,
            terminal,
            lambda admin: show_description(admin, terminal, transactional_id, as_json=as_json),
        )


@app.command("find-hanging")
@cluster_command
def find_hanging(
    options: ClusterOptions,
    topic: TopicOption = None,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than",
            metavar="AGE",
            help="Only transactions whose last record is older than this. Use at least the "
            "longest timeout that the cluster allows (transaction.max.timeout.ms).",
        ),
    ] = "15m",
    as_json: Json = False,
) -> None:
    """Find hanging transactions: open in a partition, but unknown to every coordinator.

    They block consumers with read_committed. Abort one with `ottla transactions abort`.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.transactions.run import show_hanging

        with_admin(
            options,
            terminal,
            lambda admin: show_hanging(
                admin, terminal, topic=topic, older_than=older_than, as_json=as_json
            ),
        )


@app.command()
@cluster_command
def abort(
    options: ClusterOptions,
    transactional_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", show_default=False)
    ] = None,
    topic: TopicOption = None,
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, metavar="NUMBER", show_default=False)
    ] = None,
    start_offset: Annotated[
        int | None,
        typer.Option(
            "--start-offset",
            min=0,
            metavar="OFFSET",
            help="Where the transaction begins in the partition.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Abort the transaction of an id and fence its producer, or abort a hanging transaction in a
    partition.

    [bold]Examples[/]  ottla transactions abort billing
    ottla transactions abort --topic orders --partition 3 --start-offset 4711
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.transactions.abort import run_abort

        with_admin(
            options,
            terminal,
            lambda admin: run_abort(
                admin,
                terminal,
                transactional_id,
                topic=topic,
                partition=partition,
                start_offset=start_offset,
            ),
        )
