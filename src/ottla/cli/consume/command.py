"""`ottla consume`: its options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, Topic, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

_WHICH = "Which records"
_HOW = "What a line shows before the value, separated by tabs"

Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        "-g",
        metavar="GROUP",
        help="Read as a member of this group, from its committed offsets, and commit offsets.",
        show_default=False,
        rich_help_panel=_WHICH,
    ),
]
Share = Annotated[
    str | None,
    typer.Option(
        "--share",
        metavar="GROUP",
        help="Read as a member of this share group, and acknowledge the printed records.",
        show_default=False,
        rich_help_panel=_WHICH,
    ),
]
HowAcknowledged = Annotated[
    str,
    typer.Option(
        "--acknowledge",
        metavar="HOW",
        help="With --share: [cyan]accept[/]; [cyan]reject[/]; or [cyan]release[/], which "
        "releases all records when the command ends.",
        rich_help_panel=_WHICH,
    ),
]


@cluster_command
def consume(
    options: ClusterOptions,
    topic: Topic,
    start: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="WHERE",
            help="[cyan]beginning[/]; [cyan]end[/]; an offset such as [cyan]42[/]; [cyan]-10[/], "
            "ten before the end; or a time: [cyan]2026-11-16T08:30[/] (UTC), [cyan]15m[/] (ago), "
            "[cyan]@1794817800000[/] (ms).",
            rich_help_panel=_WHICH,
        ),
    ] = "beginning",
    partitions: Annotated[
        list[int] | None,
        typer.Option(
            "--partition",
            "-p",
            min=0,
            metavar="N",
            help="Only this partition; can be repeated.",
            show_default=False,
            rich_help_panel=_WHICH,
        ),
    ] = None,
    records_max: Annotated[
        int | None,
        typer.Option(
            "--max",
            "-n",
            min=1,
            metavar="N",
            help="Stop after this many records.",
            show_default=False,
            rich_help_panel=_WHICH,
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            "-f",
            help="Wait for new records until Ctrl-C. Without it, stop at the end offsets that "
            "the topic had when the command started.",
            rich_help_panel=_WHICH,
        ),
    ] = False,
    group: Group = None,
    share: Share = None,
    acknowledge: HowAcknowledged = "accept",
    timestamps: Annotated[
        bool, typer.Option("--timestamps", "-t", help="Timestamps, in UTC.", rich_help_panel=_HOW)
    ] = False,
    offsets: Annotated[
        bool, typer.Option("--offsets", "-o", help="Partition and offset.", rich_help_panel=_HOW)
    ] = False,
    headers: Annotated[bool, typer.Option("--headers", "-H", rich_help_panel=_HOW)] = False,
    keys: Annotated[bool, typer.Option("--keys", "-k", rich_help_panel=_HOW)] = False,
    as_hex: Annotated[
        bool, typer.Option("--hex", "-x", help="Keys, values and headers in hexadecimal.")
    ] = False,
    line_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="TEMPLATE",
            help=r"Template of what is written for each record, instead of a line: %t topic, %p "
            r"partition, %o offset, %k key, %v value, %h headers, %T timestamp (ms), %K and "
            r"%V bytes in key and value, %% percent; \n, \t, \r, \\, \xHH.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read records of a topic.

    Without --group it reads partitions without joining a group, and commits no offsets.

    [bold]Examples[/]

      ottla consume orders                              all records
      ottla consume orders --from -10 --keys --offsets  the last ten of each partition
      ottla consume orders --from 15m --follow          from 15 minutes ago, then wait for more
      ottla consume orders --group billing --follow     as a member of a group
      ottla consume orders --share shipping             as a member of a share group
      ottla consume orders --format '%p %o %k %v\\n'
      ottla consume orders --json | jq .value

    [bold]Exit codes[/]  0: done.  1: the cluster refused.  2: wrong usage.  3: cannot connect.
    """
    with client_command() as terminal:
        from ottla.cli.consume.output import Shown, open_output
        from ottla.cli.consume.record_format import choose_line
        from ottla.cli.consume.start_position import parse_start
        from ottla.runtime.system_clock import SystemClock

        clock = SystemClock()
        position = parse_start(start, now_ms=clock.now_ms())
        shown = Shown(timestamp=timestamps, offset=offsets, headers=headers, key=keys)
        is_terminal = terminal.stdout.is_terminal
        output = open_output(
            choose_line(shown, line_format, is_terminal=is_terminal, as_json=as_json, as_hex=as_hex)
        )
        if share is not None or acknowledge != "accept":
            from ottla.cli.consume.share import ShareRequest, check_options, run_share

            how = check_options(share, group, position, partitions, acknowledge)
            sharing = ShareRequest(topic, share or "", how, follow, records_max)
            run_share(options, terminal, clock, sharing, output)
        elif group is None:
            from ottla.cli.consume.run import ConsumeRequest, run_consume

            request = ConsumeRequest(topic, tuple(partitions or ()), position, follow, records_max)
            run_consume(options, terminal, clock, request, output)
        else:
            from ottla.cli.consume.group import GroupRequest, offset_reset, run_group

            reset = offset_reset(position, partitions)
            membership = GroupRequest(topic, group, reset, follow, records_max)
            run_group(options, terminal, clock, membership, output)
