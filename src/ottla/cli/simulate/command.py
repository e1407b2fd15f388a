"""`ottla simulate`: a cluster living through faults, in virtual time."""

from __future__ import annotations

from typing import Annotated

import typer

_HELP = """Show a simulated cluster of three nodes living through faults, as a timeline.

A fault is AT:NAME[:SECONDS[:NODE]]: when it begins, what it is, how long it lasts and whom it hits.
What is not said the seed decides; without any fault it decides on all of them. The same seed tells
the same story. At the end every claim of the simulation is checked.

\b
    ottla simulate
    ottla simulate 3:kill:4:1 9:part:5:2
    ottla simulate --seed 42 --faults
"""


def simulate(
    faults: Annotated[
        list[str] | None,
        typer.Argument(metavar="[AT:NAME[:SECONDS[:NODE]]]...", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="What decides everything that is left open.")] = 1,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=3_600.0, help="Of load, with faults of your own.")
    ] = 20.0,
    power: Annotated[
        bool, typer.Option("--power", help="Sync every record, so that power may be lost.")
    ] = False,
    list_faults: Annotated[
        bool, typer.Option("--faults", help="List the faults there are, and leave.")
    ] = False,
) -> None:
    from ottla.cli.connection.client_command import client_command
    from ottla.cli.simulate.run import run_simulate

    with client_command():
        run_simulate(
            faults or [], seed=seed, seconds=seconds, is_durable=power, lists_faults=list_faults
        )


simulate.__doc__ = _HELP
