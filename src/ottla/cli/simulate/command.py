"""`ottla simulate`: a simulated cluster under faults, in virtual time."""

from __future__ import annotations

from typing import Annotated

import typer

_HELP = """Simulate a cluster of three nodes under faults, and print what happens as a timeline.

A fault is AT:NAME[:SECONDS[:NODE]]: when it begins, in seconds; its name; how long it lasts,
2 seconds by default; and the node that it affects, by default any. Without faults, the seed chooses
them. The same arguments and seed give the same run. At the end, the simulation checks its claims,
such as that no acknowledged record is lost.

\b
    ottla simulate
    ottla simulate 3:kill:4:1 9:part:5:2
    ottla simulate --seed 42
    ottla simulate --faults
"""


def simulate(
    faults: Annotated[
        list[str] | None,
        typer.Argument(metavar="[AT:NAME[:SECONDS[:NODE]]]...", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=3_600.0, help="Seconds of load, if faults are given.")
    ] = 20.0,
    power: Annotated[
        bool,
        typer.Option(
            "--power", help="Sync every record, so that records survive the loss of power."
        ),
    ] = False,
    list_faults: Annotated[
        bool, typer.Option("--faults", help="List all faults, and exit.")
    ] = False,
) -> None:
    from ottla.cli.connection.client_command import client_command
    from ottla.cli.simulate.run import run_simulate

    with client_command():
        run_simulate(
            faults or [], seed=seed, seconds=seconds, is_durable=power, lists_faults=list_faults
        )


simulate.__doc__ = _HELP
