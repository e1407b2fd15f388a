"""`ottla produce`: its options and their help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, Topic, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command

_WHAT = "What to produce"
_RECORDS = "What every record gets, unless its line says otherwise"
_HOW = "How to produce it"


class ProduceFormat(StrEnum):
    """`produce_input` has the same names."""

    LINES = "lines"
    KEY_VALUE = "key-value"
    JSON = "json"
    RAW = "raw"


class Acks(StrEnum):
    NONE = "0"
    LEADER = "1"
    ALL = "all"


class Compression(StrEnum):
    NONE = "none"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


AcksOption = Annotated[
    Acks,
    typer.Option(
        "--acks",
        help="Required acknowledgements: 0, 1 (leader) or all (in-sync replicas).",
        rich_help_panel=_HOW,
    ),
]
CompressionOption = Annotated[
    Compression,
    typer.Option("--compression", help="Compression of the batches.", rich_help_panel=_HOW),
]


@cluster_command
def produce(
    options: ClusterOptions,
    topic: Topic,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            "-f",
            metavar="PATH",
            help="Read this file; without it, or with -, standard input.",
            show_default=False,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--value",
            "-v",
            metavar="TEXT",
            help="Produce a record with this value, and read no input; can be repeated.",
            show_default=False,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    input_format: Annotated[
        ProduceFormat,
        typer.Option(
            "--format",
            "-F",
            help="[cyan]lines[/]: each line is a value. [cyan]key-value[/]: each line is a key, "
            "the separator, a value. [cyan]json[/]: each line is an object with value, and "
            "optionally key, headers, partition, timestamp, as [cyan]consume --json[/] "
            "prints it. [cyan]raw[/]: all input is one value.",
            rich_help_panel=_WHAT,
        ),
    ] = ProduceFormat.LINES,
    separator: Annotated[
        str,
        typer.Option(
            "--separator",
            "-s",
            metavar="TEXT",
            help="Separator between key and value; [cyan]\\t[/] is a tab.",
            rich_help_panel=_WHAT,
        ),
    ] = ":",
    key: Annotated[
        str | None,
        typer.Option("--key", "-k", metavar="TEXT", show_default=False, rich_help_panel=_RECORDS),
    ] = None,
    headers: Annotated[
        list[str] | None,
        typer.Option(
            "--header",
            "-H",
            metavar="NAME=VALUE",
            help="Header of each record; can be repeated.",
            show_default=False,
            rich_help_panel=_RECORDS,
        ),
    ] = None,
    partition: Annotated[
        int | None,
        typer.Option(
            "--partition",
            "-p",
            min=0,
            metavar="N",
            help="Partition of each record; default: chosen by the key, as in Kafka's client.",
            show_default=False,
            rich_help_panel=_RECORDS,
        ),
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option(
            "--timestamp",
            metavar="TIME",
            help="Such as 2026-11-16T08:30 (UTC), 15m (ago), @1794817800000 (ms); default: now.",
            show_default=False,
            rich_help_panel=_RECORDS,
        ),
    ] = None,
    acks: AcksOption = Acks.ALL,
    compression: CompressionOption = Compression.NONE,
    as_json: Json = False,
) -> None:
    """Produce records to a topic, from standard input, a file or the command line.

    [bold]Examples[/]

      echo hello | ottla produce greetings
      ottla produce orders --key 42 --value paid --header source=shop
      ottla produce orders --format key-value --separator '\\t' --file orders.tsv
      ottla consume orders --json | ottla produce copy --format json
      ottla produce images --format raw --key cat --file cat.jpg

    [bold]Exit codes[/]  0: everything was acknowledged.  1: the cluster refused a record; nothing
    was sent after it.  2: wrong usage, or a line that is not a record.  3: cannot connect.
    """
    with client_command() as terminal:
        from contextlib import nullcontext

        from ottla.cli.exit_codes import CommandError, ExitCode
        from ottla.cli.produce.input import (
            InputFormat,
            argument_bytes,
            input_lines,
            new_reader,
        )
        from ottla.cli.produce.input_source import open_input
        from ottla.cli.produce.run import open_producer, run_produce
        from ottla.runtime.system_clock import SystemClock

        if values and file is not None:
            raise CommandError("Either --value or --file, not both.", exit_code=ExitCode.USAGE)
        clock = SystemClock()
        reader = new_reader(
            key=key,
            headers=headers or (),
            partition=partition,
            timestamp=timestamp,
            separator=separator,
            now_ms=clock.now_ms(),
        )
        configs = {"acks": acks.value, "compression.type": compression.value}
        producer = open_producer(options, terminal, topic, partition, configs)
        chosen = InputFormat(input_format.value)
        with nullcontext() if values else open_input(file) as source:
            if source is not None and source.is_live:
                terminal.notice("Type records, one per line. End with Ctrl-D.")
            lines = input_lines(source, chosen) if source else map(argument_bytes, values or ())
            records = reader.read(lines, chosen)
            run_produce(producer, terminal, clock, topic, records, source, as_json=as_json)
