"""`ottla bench`: its options and their help."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, client_command
from ottla.cli.connection.cluster_options import ClusterOptions, cluster_command
from ottla.cli.produce.command import Acks, AcksOption, Compression, CompressionOption

_WHAT = "What to measure"


@cluster_command
def bench(
    options: ClusterOptions,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", "-s", min=0.1, help="How long each test runs.", rich_help_panel=_WHAT
        ),
    ] = 5.0,
    value_bytes: Annotated[
        int,
        typer.Option(
            "--size", min=8, metavar="BYTES", help="Size of each value.", rich_help_panel=_WHAT
        ),
    ] = 1_000,
    rate: Annotated[
        int,
        typer.Option(
            "--rate",
            min=1,
            metavar="N",
            help="Records per second in the latency test.",
            rich_help_panel=_WHAT,
        ),
    ] = 1_000,
    topic: Annotated[
        str | None,
        typer.Option(
            "--topic",
            metavar="NAME",
            help="Use this topic, and keep its records. Default: a new topic, which is deleted "
            "at the end.",
            show_default=False,
            rich_help_panel=_WHAT,
        ),
    ] = None,
    partitions: Annotated[
        int,
        typer.Option("--partitions", "-p", min=1, help="For a new topic.", rich_help_panel=_WHAT),
    ] = 1,
    acks: AcksOption = Acks.ALL,
    compression: CompressionOption = Compression.NONE,
    as_json: Json = False,
) -> None:
    """Measure a cluster: throughput of producing and consuming, and latencies.

    First, records are produced as fast as possible; then they are read back; then records are sent
    at a constant rate, and each is timed until its acknowledgement and until a consumer receives
    it. The client runs in this process: on a small host, it affects the results.

    [bold]Example[/]  ottla bench --seconds 10 --size 100 --compression lz4

    [bold]Exit codes[/]  0: done.  1: the cluster refused.  2: wrong usage.  3: cannot connect.
    """
    with client_command() as terminal:
        from ottla.cli.bench.load import BenchLoad
        from ottla.cli.bench.run import run_bench
        from ottla.runtime.system_clock import SystemClock

        load = BenchLoad(
            seconds=seconds,
            value_bytes=value_bytes,
            rate=rate,
            acks=acks.value,
            compression=compression.value,
        )
        run_bench(
            options, terminal, SystemClock(), load, topic, partitions=partitions, as_json=as_json
        )
