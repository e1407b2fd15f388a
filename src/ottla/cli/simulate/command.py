"""`ottla simulate`: a cluster living through faults, in virtual time."""

from __future__ import annotations

from typing import Annotated

import typer

_HELP = """Simulate a cluster of three nodes under faults, and show it as a timeline.

A fault is AT:NAME[:SECONDS[:NODE]]: its start, name, duration and node. The seed determines what is
left out, and all faults if none is given. The same seed gives the same run. At the end every claim
of the simulation is checked.

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
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=3_600.0, help="Duration of the load, if faults are given.")
    ] = 20.0,
    power: Annotated[
        bool, typer.Option("--power", help="Sync every record, and allow power losses.")
    ] = False,
    list_faults: Annotated[
        bool, typer.Option("--faults", help="List the available faults, and exit.")
    ] = False,
) -> None:
    from ottla.cli.connection.client_command import client_command
    from ottla.cli.simulate.run import run_simulate

    with client_command():
        run_simulate(
            faults or [], seed=seed, seconds=seconds, is_durable=power, lists_faults=list_faults
        )


simulate.__doc__ = _HELP
