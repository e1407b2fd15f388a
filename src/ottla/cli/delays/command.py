"""`ottla delays`: records that are held until they are due; commands, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import EXIT_CODES, Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Show how many records topics with delayed delivery hold.",
    epilog=EXIT_CODES,
)


@app.callback()
def delays() -> None:
    """Show how many records topics with delayed delivery hold."""


@app.command("list")
@cluster_command
def list_delays(
    options: ClusterOptions,
    topics: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC...]", help="Only these topics.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the partitions with delayed delivery: records and bytes held, and the next due time.

    Without topics, all that have [cyan]ottla.delivery.delay.enable=true[/].
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.delays.run import run_list

        with_admin(
            options,
            terminal,
            lambda admin: run_list(admin, terminal, topics or (), as_json=as_json),
        )
