"""Runs `ottla simulate`: parses the faults, runs the simulation and prints its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import typer
from rich.console import Console
from rich.text import Text

from ottla.cli.display.cells import count
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.simulation.faults.fault_plan import Plan, PlannedFault, plan_of
from ottla.simulation.faults.faults import FAULTS, FaultKind
from ottla.simulation.history.history import (
    Acknowledged,
    Event,
    Failed,
    Fault,
    LogRecovered,
    Noted,
    Read,
)
from ottla.simulation.runs.seeded_run import SeedOutcome, run_plan

_SECONDS: Final = 2.0
_NODES: Final = 3
_HIDDEN: Final = frozenset({"Sent", "WatermarkSeen", "ImageSeen", "ReplicaHas"})


def run_simulate(
    faults: Sequence[str], *, seed: int, seconds: float, is_durable: bool, lists_faults: bool
) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if lists_faults:
        for name, fault in FAULTS.items():
            console.print(f"{name:<20} {_summary(fault)}", markup=False)
        return
    plan = plan_of(seed)
    if faults:
        planned = tuple(parse_fault(text, number) for number, text in enumerate(faults))
        plan = Plan(seed, seconds, is_durable, partitions=1, producers=1, faults=planned)
    outcome = run_plan(plan, notes=True)
    show(console, outcome)
    if not outcome.is_clean:
        raise typer.Exit(ExitCode.REFUSED)


def _summary(fault: FaultKind) -> str:
    """The first line of the docstring, for users; the rest is for readers of the code."""
    return (fault.__doc__ or "").partition("\n")[0]


def parse_fault(text: str, number: int) -> PlannedFault:
    """AT:NAME[:SECONDS[:NODE]]."""
    try:
        at, name, seconds, node, *rest = [*text.split(":"), "", ""]
        fault = PlannedFault(
            float(at),
            name,
            float(seconds) if seconds else _SECONDS,
            number,
            int(node) if node else None,
        )
    except ValueError:
        raise _no_fault(text) from None
    if any(rest) or fault.at < 0 or fault.node_id not in (None, *range(1, _NODES + 1)):
        raise _no_fault(text)
    if fault.name not in FAULTS:
        raise CommandError(
            f"There is no fault {fault.name!r}.",
            "`ottla simulate --faults` lists all faults.",
            exit_code=ExitCode.USAGE,
        )
    return fault


def show(console: Console, outcome: SeedOutcome) -> None:
    """One line for each thing that happened; records are counted."""
    acknowledged = read = 0
    for at, event in outcome.history.events:
        acknowledged += isinstance(event, Acknowledged)
        read += isinstance(event, Read)
        name = type(event).__name__
        if name in _HIDDEN or isinstance(event, Acknowledged | Read):
            continue
        counts = f"{acknowledged:6} ✓ {read:6} ▷"
        console.print(Text(f"{at:9.3f} s  {counts}  {event}", style=_style(event)))
    for violation in outcome.violations:
        console.print(Text(f"violated: {violation}", style="bold red"))
    verdict = "every claim holds" if outcome.is_clean else "not every claim holds"
    console.print(
        f"seed {outcome.plan.seed}: {count(acknowledged, 'record')} acknowledged, "
        f"{read} read, {verdict}"
    )


def _style(event: Event) -> str:
    if isinstance(event, Failed):
        return "bold red"
    if isinstance(event, Fault):
        return "yellow"
    if isinstance(event, LogRecovered):
        return "green"
    return "dim" if isinstance(event, Noted) else ""


def _no_fault(text: str) -> CommandError:
    return CommandError(
        f"{text!r} is not a fault.",
        f"Write AT:NAME[:SECONDS[:NODE]] with a node from 1 to {_NODES}, such as 3:kill:4:1.",
        exit_code=ExitCode.USAGE,
    )
