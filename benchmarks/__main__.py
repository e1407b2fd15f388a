"""`make bench`: every figure of codec and log, with the bound it has to hold.

python -m benchmarks [--json] [codec] [log] [compaction] [columns]
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from benchmarks.figure import Figure

SUITES = ("codec", "records", "log", "compaction")


def main(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    wanted = [argument for argument in arguments if argument != "--json"] or list(SUITES)
    unknown = set(wanted) - set(SUITES)
    if unknown:
        print(f"no such suite: {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
        return 2
    console = Console(stderr=as_json)
    broken = 0
    for suite in wanted:
        with console.status(f"measuring {suite} ..."):
            figures = list(_figures(suite))
        broken += sum(not figure.holds for figure in figures)
        if as_json:
            for figure in figures:
                print(json.dumps({"suite": suite, **asdict(figure)}, ensure_ascii=False))
        else:
            console.print(_table(suite, figures))
    if broken:
        console.print(f"[bold red]{broken} bounds do not hold[/]")
    return 1 if broken else 0


def _figures(suite: str) -> Iterable[Figure]:
    module = importlib.import_module(f"benchmarks.{suite}")
    figures: Iterable[Figure] = module.run()
    return figures


def _table(suite: str, figures: list[Figure]) -> Table:
    table = Table(title=suite, title_justify="left", title_style="bold")
    table.add_column("what")
    table.add_column("ottla", justify="right")
    table.add_column("against", justify="right")
    table.add_column("bound")
    for figure in figures:
        against = "" if figure.against is None else f"{figure.against:,.2f}"
        mark = "" if not figure.bound else ("[green]holds[/]" if figure.holds else "[red]BROKEN[/]")
        table.add_row(
            figure.name, f"{figure.value:,.2f} {figure.unit}", against, f"{figure.bound} {mark}"
        )
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
