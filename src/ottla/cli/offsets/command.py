"""`ottla offsets`: its options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, Topic, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command


@cluster_command
def offsets(
    options: ClusterOptions,
    topic: Topic,
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
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="Also show the offset of the first record at or after this time: "
            "[cyan]2026-11-16T08:30[/] (UTC), [cyan]15m[/] (ago), [cyan]@1794817800000[/] "
            "(ms).",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the earliest and the latest offset of each partition, and the offset at a time.

    The latest offset is that of the next record. The length is the difference of the two; with
    compaction or transactions there are fewer records than that.

    [bold]Example[/]  ottla offsets orders --at 2026-11-16T08:30

    [bold]Exit codes[/]  0: done.  1: the cluster refused.  2: wrong usage.  3: cannot connect.
    """
    with client_command() as terminal:
        from ottla.cli.connection.admin_connection import with_admin
        from ottla.cli.offsets.run import parse_at, run_offsets
        from ottla.runtime.system_clock import SystemClock

        at_ms = None if at is None else parse_at(at, now_ms=SystemClock().now_ms())
        with_admin(
            options,
            terminal,
            lambda admin: run_offsets(
                admin, terminal, topic, partitions or (), at_ms, as_json=as_json
            ),
        )
