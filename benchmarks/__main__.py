"""`make bench`: every figure, with the bound it has to hold.

python -m benchmarks [--json] [--quick] [SUITE ...]

The suites `codec`, `records`, `log`, `compaction`, `scrape` and `delays` measure Ottla's parts,
`client` its Python clients beside others, and `gateway` requests over HTTP. The others measure
servers, want an otherwise idle machine, and add a line to history.jsonl:

    suite          measures                                            minutes, with --quick
    versus         one Ottla node and one Apache Kafka broker          8, 2
    groups         consuming from both in groups                       10, 4
    shares         consuming from both in share groups                 6, 2
    transactions   writing to both in transactions, reading            5, 2
    counting       loading a node with and without metrics             2, 1
    security       loading both over TLS; authorization                3, 1
    cluster        starting, loading and hitting three nodes of each   20, 4
    availability   restarting and killing three Ottla nodes in turn    4, 1
    workers        loading several workers of one host                 3, 1
    quotas         held rates, clients beside a flood, costs           10, 3
    partitions     10,000 partitions of three replicas                 5, 1
    registry       reading, registering and checking schemas           2, 1
    pipeline       Spark, beside Spark's own Kafka connector
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict

from rich.console import Console
from rich.status import Status
from rich.table import Table

from benchmarks import (
    cluster,
    counting,
    groups,
    pipeline,
    quotas,
    registry,
    security,
    shares,
    transactions,
    versus,
)
from benchmarks.cluster import availability, partitions, workers
from benchmarks.figure import Figure
from benchmarks.versus import history

# Those that measure servers, and are kept in the history.
OF_SERVERS: dict[str, Callable[..., Iterable[Figure]]] = {
    "versus": versus.run,
    "groups": groups.run,
    "shares": shares.run,
    "transactions": transactions.run,
    "counting": counting.run,
    "security": security.run,
    "cluster": cluster.run,
    "availability": availability.run,
    "workers": workers.run,
    "quotas": quotas.run,
    "partitions": partitions.run,
    "registry": registry.run,
    "pipeline": pipeline.run,
}
SUITES = (
    "codec",
    "records",
    "log",
    "compaction",
    "scrape",
    "delays",
    "client",
    "gateway",
    *OF_SERVERS,
)
# Of a table that goes into a file: a row on a line.
WIDTH_UNSEEN = 140


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    width = None if sys.stdout.isatty() else WIDTH_UNSEEN
    console = Console(stderr=options.json, highlight=False, width=width)
    broken = 0
    for suite in options.suites or SUITES:
        before = _before(suite, quick=options.quick)
        with console.status(f"measuring {suite} ...") as status:
            figures = list(_figures(suite, options.quick, console, status))
        if suite in OF_SERVERS:
            history.append(figures, suite=suite, quick=options.quick)
        broken += sum(not figure.holds for figure in figures)
        if options.json:
            for figure in figures:
                line = {"suite": suite, **asdict(figure), "ratio": figure.ratio}
                print(json.dumps(line, ensure_ascii=False))
        else:
            console.print(_table(suite, figures, before))
    if broken:
        console.print(f"[bold red]bounds that do not hold: {broken}[/]")
    return 1 if broken else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures Ottla.")
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"of {', '.join(SUITES)}")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each figure")
    parser.add_argument("--quick", action="store_true", help="measure servers for a shorter time")
    options = parser.parse_args(arguments)
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
    return options


def _before(suite: str, *, quick: bool) -> dict[str, float]:
    return history.last(suite=suite, quick=quick) if suite in OF_SERVERS else {}


def _figures(suite: str, quick: bool, console: Console, status: Status) -> Iterable[Figure]:
    if suite in OF_SERVERS:
        return OF_SERVERS[suite](quick=quick, report=status.update, note=console.print)
    figures: Iterable[Figure] = importlib.import_module(f"benchmarks.{suite}").run()
    return figures


def _table(suite: str, figures: list[Figure], before: dict[str, float]) -> Table:
    table = Table(title=suite, title_justify="left", title_style="bold")
    table.add_column("what")
    table.add_column("ottla", justify="right")
    has_kafka = suite in OF_SERVERS and suite != "registry"
    table.add_column("Apache Kafka" if has_kafka else "against", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("last time", justify="right")
    table.add_column("bound")
    for figure in figures:
        mark = "" if not figure.bound else ("[green]holds[/]" if figure.holds else "[red]BROKEN[/]")
        table.add_row(
            figure.name,
            f"{figure.value:,.2f} {figure.unit}",
            _number(figure.against),
            _number(figure.ratio),
            _number(before.get(figure.name)),
            f"{figure.bound} {mark}",
        )
    return table


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:,.2f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
